/** Conversations that stand for one question, or that their client keeps itself (openai/conversation-key.ts). */
import type { Turn } from "./transcript-rows.ts";

const ONE_SHOT = /^[^/]+\/(ask\/|openai\/once\.)/;
/** As long as Home keeps the calls of it. */
const KEEP_MS = 48 * 3_600_000;

/** @param name `home/channel/id` */
export function isOneShot(name: string): boolean {
  return ONE_SHOT.test(name);
}

/** When the whole of it goes, epoch ms; undefined: never, or its turn is not over. */
export function oneShotEnds(name: string, last: Pick<Turn, "finishedAt"> | undefined): number | undefined {
  return isOneShot(name) && last?.finishedAt != null ? last.finishedAt + KEEP_MS : undefined;
}
