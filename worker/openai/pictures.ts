/** What a turn's calls brought, as Markdown below the answer: pictures to be shown, files to be fetched. */
import type { CallRecord } from "@edgecall/core/loop/history.ts";
import { isPicture } from "@edgecall/core/protocol/media.ts";
import type { Env } from "../env.ts";
import { oneLine } from "../home/roster.ts";
import { mediaLink } from "../routes/media-links.ts";

/** More than anybody looks at in an answer. */
const MAX_SHOWN = 16;

/** Where the caller reaches this gateway, and whose home it is. */
export type Linker = { env: Env; origin: string; home: string };

/** Empty when the calls brought nothing. */
export async function shownMedia(calls: readonly CallRecord[], linker: Linker): Promise<string> {
  const { env, origin, home } = linker;
  const brought = calls.flatMap(({ agent, action, name, media = [] }) =>
    media.map((item) => ({ item, words: [agent ?? name, action].filter(Boolean).join(" ") })),
  );
  const lines = brought.slice(0, MAX_SHOWN).map(async ({ item, words }) => {
    const link = await mediaLink(env, origin, home, item.id);
    const name = oneLine(words, 80).replace(/[[\]()!\\`<>]/g, "");
    return isPicture(item) ? `![${name}](${link})` : `[${name}: ${item.media_type}](${link})`;
  });
  return (await Promise.all(lines)).join("\n\n");
}
