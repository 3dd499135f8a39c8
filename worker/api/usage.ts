/** The usage of a home, and a conversation's reports of it. */
import type { Outcome, Usage } from "@edgecall/core/loop/history.ts";
import type { EndedTurn } from "@edgecall/core/metrics/tally.ts";

/** One model's tokens, of a call or of a day. */
export type ModelUsage = { model: string; usage: Usage };

/** @property day of UTC, 2026-11-22 @property models those that had a price, or were used beside one that had */
export type DayUsage = { day: string; tokens: number; modelCalls: number; models: ModelUsage[] };

/** A conversation's report of an ended turn. */
export type ReportedTurn = EndedTurn & {
  channel: string;
  /** Its conversation, unless that is a one-shot. */
  conversation?: string;
  /** Calls of the gateway's own tools, which Home does not see otherwise. */
  calls: Array<{ tool: string; elapsedMs: number; errorType?: Outcome["errorType"] }>;
};

export type Admission = { ok: true } | { ok: false; status: 401 | 429; code: string; message: string };

/** The refusal of a device at the relay. An unknown home gets the same answer. */
export function relayUnsigned(agent: string): Admission & { ok: false } {
  const message = `the token is not signed with the key on record for '${agent}'`;
  return { ok: false, status: 401, code: "unauthorized", message };
}
