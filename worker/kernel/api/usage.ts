/** The usage of a home, and a conversation's reports of it. */
import type { Usage } from "@edgecall/core/loop/history.ts";
import type { EndedTurn } from "@edgecall/core/metrics/tally.ts";
import type { ErrorType } from "@edgecall/core/tools/errors.ts";

/** One model's tokens, of a call or of a day. */
export type ModelUsage = { model: string; usage: Usage };

/** @property day of UTC, 2026-11-22 @property models those that had a price, or were used beside one that had */
export type DayUsage = { day: string; tokens: number; modelCalls: number; models: ModelUsage[] };

/** Stands in the place of an agent for the gateway's own tools. No agent can have this id. */
export const GATEWAY_TOOLS = "(gateway)";

/**
 * A call of a turn that ended. Home does not count a conversation's calls when they are settled, unless they settle late (a
 * queued call, a job): the turn reports them at its end.
 */
export type ReportedCall = {
  agent: string;
  tool: string;
  elapsedMs: number;
  /** Absent: success. */
  errorType?: ErrorType;
  /** No agent got it. */
  unsent?: true;
};

/** A conversation's report of an ended turn. */
export type ReportedTurn = EndedTurn & {
  /** Of the turn. */
  id: string;
  channel: string;
  /** Its conversation, unless that is a one-shot. */
  conversation?: string;
  calls: ReportedCall[];
};
