/** Writes the pictures and files of a turn's calls as Markdown below the answer. */
import type { CallRecord } from "@edgecall/core/loop/history.ts";
import { isPicture } from "@edgecall/core/protocol/media.ts";
import { linkNames } from "../../kernel/api/media.ts";
import type { Env } from "../../kernel/env.ts";
import { mediaLink } from "../../kernel/http/media-links.ts";

/** More than a person looks at in one answer. */
const MAX_SHOWN = 16;

/** The address at which the caller reaches this gateway, and the caller's home. */
export type Linker = { env: Env; origin: string; home: string };

/** @returns Markdown; empty when the calls have no files */
export async function shownMedia(calls: readonly CallRecord[], linker: Linker): Promise<string> {
  const { env, origin, home } = linker;
  const brought = calls.flatMap((call) => {
    const names = linkNames(call);
    return (call.media ?? []).map((item, at) => ({ item, name: names[at] }));
  });
  const lines = brought.slice(0, MAX_SHOWN).map(async ({ item, name }) => {
    const link = await mediaLink(env, origin, home, item.id);
    return `${isPicture(item) ? "!" : ""}[${name}](${link})`;
  });
  return (await Promise.all(lines)).join("\n\n");
}
