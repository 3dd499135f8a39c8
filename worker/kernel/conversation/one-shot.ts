/** Conversations that stand for one question, or that their client keeps itself (features/openai/conversation-key.ts). */
import type { Turn } from "./store/rows.ts";

const ONE_SHOT = /^[^/]+\/(ask\/|openai\/once\.)/;
/** Home keeps the calls of a one-shot for the same time. */
export const ONE_SHOT_KEEP_MS = 48 * 3_600_000;
/** Turns that chats still go on from are looked at again after this time. */
const AGAIN_MS = 3_600_000;

/** @param name `home/channel/id` */
export function isOneShot(name: string): boolean {
  return ONE_SHOT.test(name);
}

/** The time at which a one-shot is deleted (epoch ms). Undefined: its turn is not over. */
export function oneShotEnds(last: Pick<Turn, "finishedAt"> | undefined): number | undefined {
  return last?.finishedAt != null ? last.finishedAt + ONE_SHOT_KEEP_MS : undefined;
}

/** Turns that ended before this time go (epoch ms): chats that begin alike share an object, which itself may never end. */
export function oneShotEnded(now: number): number {
  return now - ONE_SHOT_KEEP_MS;
}

/** The time at which the next turn of it may be deleted (epoch ms). */
export function oneShotLooks(oldest: Pick<Turn, "finishedAt"> | undefined, now: number): number {
  return Math.max((oldest?.finishedAt ?? now) + ONE_SHOT_KEEP_MS, now + AGAIN_MS);
}
