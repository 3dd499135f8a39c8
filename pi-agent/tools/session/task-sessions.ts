/** Histories of sub-agents that `task` may go on with: files in the agent's state folder, for whoever began each. */

import { randomBytes } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Entry } from "@edgecall/core/loop/history.ts";
import { checkJson, z } from "@edgecall/core/protocol/parse.ts";
import { cutText } from "@edgecall/core/text/cut.ts";
import type { ToolContext } from "@edgecall/core/tools/contract.ts";
import { writeAtomic } from "@edgecall/node/atomic-write.ts";
import { messageOf } from "@edgecall/node/log.ts";
import { deleteOldest } from "@edgecall/node/oldest-files.ts";

/** The ones unused for longest are deleted first. */
export const SESSIONS_MAX = 16;
/** Characters of the JSON of one history: the oldest tasks go first. */
const CHARS_MAX = 64 * 1024;
/** Of one task that is larger by itself. */
const TEXT_MAX = 8_000;

const Kept = z.looseObject({ whose: z.string(), entries: z.array(z.unknown()) });

export class TaskSessions {
  readonly #folder: string;

  /** @param folder made at the first session */
  constructor(folder: string) {
    this.#folder = folder;
  }

  newId(): string {
    return randomBytes(6).toString("hex");
  }

  /** @returns the history; or why there is none, which does not tell whether somebody else has one of this id */
  async read(id: string, caller: ToolContext["caller"]): Promise<Entry[] | string> {
    const none = `there is no session '${id}'`;
    let text: string;
    try {
      text = await readFile(this.#path(id), "utf8");
    } catch (error) {
      return (error as NodeJS.ErrnoException).code === "ENOENT" ? none : messageOf(error);
    }
    const kept = checkJson(Kept, text);
    if (!kept.ok) return kept.error;
    // SAFETY: `write` wrote them.
    return kept.value.whose === whoseOf(caller) ? (kept.value.entries as Entry[]) : none;
  }

  async write(id: string, caller: ToolContext["caller"], entries: readonly Entry[]): Promise<void> {
    const kept = { whose: whoseOf(caller), entries: fitting(entries.map(withoutMedia)) };
    await writeAtomic(this.#path(id), JSON.stringify(kept));
    await deleteOldest(this.#folder, ".json", SESSIONS_MAX);
  }

  #path(id: string): string {
    return join(this.#folder, `${id}.json`);
  }
}

function whoseOf({ principal, channel }: ToolContext["caller"]): string {
  return JSON.stringify([principal, channel]);
}

/** The messages that the next model call reads. */
function withoutMedia(entry: Entry): Entry {
  if (entry.role !== "assistant") return entry;
  const calls = entry.calls.map(({ outcome, ...call }) => {
    if (!outcome) return call;
    const { status, text, advice, errorType, elapsedMs } = outcome;
    return {
      ...call,
      outcome: { status, text, elapsedMs, ...(advice && { advice }), ...(errorType && { errorType }) },
    };
  });
  return { ...entry, calls };
}

/** The newest tasks that fit. Of one that does not fit alone, its words and its answer. */
function fitting(entries: readonly Entry[]): Entry[] {
  let kept = [...entries];
  while (JSON.stringify(kept).length > CHARS_MAX) {
    const next = kept.findIndex(({ role }, at) => at > 0 && role === "user");
    if (next < 0) return [kept[0], kept.at(-1)].flatMap((entry) => (entry ? [shortened(entry)] : []));
    kept = kept.slice(next);
  }
  return kept;
}

function shortened(entry: Entry): Entry {
  const text = cutText(entry.text, TEXT_MAX);
  return entry.role === "assistant" ? { role: "assistant", text, calls: [] } : { role: "user", text };
}
