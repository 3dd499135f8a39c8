/** Asks a model with as much of a history as fits it, and once more with less when it refuses that as too long. */
import type { Entry } from "./history.ts";
import {
  type HistoryLimit,
  limitsFromRefusal,
  type ModelLimits,
  maxReply,
  type Room,
} from "./model-limits.ts";
import type { ModelReply } from "./model-reply.ts";
import type { ModelSettings } from "./request.ts";
import { ModelError } from "./retry.ts";
import { estimateTokens } from "./tokens.ts";
import { parseTooLong, type TooLong } from "./too-long.ts";
import { TooLongError } from "./too-long-error.ts";

/** The conversation gets so much of a limit that is no window, however large the tools are. */
const ENTRIES_SHARE = 1 / 4;

/** @property hardTokens what the model takes at most; absent: unknown @property reply tokens that are kept for the reply */
export type EntryRoom = { maxTokens: number; hardTokens?: number; reply: number; isProvisional: boolean };

export type FittingQuestion = {
  model: ModelSettings;
  limits: ModelLimits;
  history: HistoryLimit;
  /** Tokens of what is sent beside the entries (`tokensBeside`). */
  beside: number;
  cut(room: EntryRoom): readonly Entry[] | Promise<readonly Entry[]>;
  /** @param sent our estimate of the whole request */
  send(entries: readonly Entry[], maxTokens: number, sent: number): Promise<ModelReply>;
  /** A refused request is sent again: what was shown of its reply is void. */
  onAgain?(): void;
  /** A local server told its window, and that is news. */
  onWindow?(told: { server: string; tokens: number }): void;
};

/** @throws ModelError as `send` does; TooLongError when the request is still too long */
export async function askFitting(question: FittingQuestion): Promise<ModelReply> {
  const { model, limits, history, beside } = question;
  const told = await limits.ask(model);
  if (told) question.onWindow?.(told);
  const adapted = new Set<TooLong["kind"]>();
  let lessons: ReturnType<typeof limitsFromRefusal>;
  for (;;) {
    const room = limits.room(model, history, lessons);
    const entries = await question.cut(roomForEntries(room, beside));
    const sent = beside + estimateTokens(entries);
    const asked = { sent, maxReply: maxReply(room, sent), factor: room.factor };
    try {
      const reply = await question.send(entries, asked.maxReply, sent);
      limits.replied(model, sent, reply.usage, lessons);
      return reply;
    } catch (error) {
      if (!(error instanceof ModelError) || error.kind === "cancelled") throw error;
      const words = parseTooLong(error.message);
      if (!words) throw error;
      const more = adapted.has(words.kind) ? undefined : limitsFromRefusal(words, asked);
      if (!more) throw new TooLongError(error, words, { ...asked, beside, server: room.server });
      adapted.add(words.kind);
      lessons = { ...lessons, ...more };
      question.onAgain?.();
    }
  }
}

function roomForEntries({ soft, hard, reply, isProvisional }: Room, beside: number): EntryRoom {
  const hardTokens = hard === undefined ? undefined : Math.max(0, hard - beside);
  const wanted = Math.max(soft - beside, soft * ENTRIES_SHARE);
  return {
    maxTokens: Math.floor(Math.min(wanted, hardTokens ?? wanted)),
    reply: reply.least,
    isProvisional,
    ...(hardTokens !== undefined && { hardTokens }),
  };
}
