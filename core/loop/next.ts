/** Decides the next step of a turn from its entries alone. Pure, so after a crash the entries are simply read again. */
import { canonicalJson } from "../protocol/approval.ts";
import type { Call, Entry } from "./history.ts";

export type LoopLimits = {
  /** Model calls with tools in a turn (the seed's `max_tool_iterations`). */
  maxModelCalls: number;
  /** Batches in a row in which every call failed (the seed's `tool_error_limit`). */
  maxFailedBatches: number;
  /** Calls that run at the same time. */
  maxParallel: number;
  /** How often the same call may fail; absent = 3. */
  maxRepeats?: number;
};

export const DEFAULT_LIMITS: Required<LoopLimits> = {
  maxModelCalls: 10,
  maxFailedBatches: 3,
  maxParallel: 5,
  maxRepeats: 3,
};

/** Why a turn ends with a summary: too many model calls, failed batches in a row, or one call that failed repeatedly. */
export type Limit = "iterations" | "errors" | "repeats";

export type Next =
  | { do: "model"; tools: true }
  /** A limit is reached: one more model call, without tools, asks for a summary. */
  | { do: "model"; tools: false; limit: Limit }
  | { do: "calls"; calls: Call[] }
  | { do: "done"; text: string };

/** @param turn the entries of one turn, from the user's message on */
export function nextOf(turn: readonly Entry[], limits: LoopLimits): Next {
  const last = turn.at(-1);
  if (last?.role === "assistant" && last.calls.length === 0) return { do: "done", text: last.text };
  // A note may arrive while calls are out; the calls still need their results before the next model call.
  const asked = turn.findLast((entry) => entry.role === "assistant");
  const open = asked?.calls.filter((call) => call.outcome === undefined) ?? [];
  if (open.length > 0) return { do: "calls", calls: open };
  if (sameFailures(turn) >= maxRepeats(limits)) return { do: "model", tools: false, limit: "repeats" };
  if (failedBatches(turn) >= limits.maxFailedBatches) return { do: "model", tools: false, limit: "errors" };
  if (modelCalls(turn) >= limits.maxModelCalls) return { do: "model", tools: false, limit: "iterations" };
  return { do: "model", tools: true };
}

export function modelCalls(turn: readonly Entry[]): number {
  return turn.filter((entry) => entry.role === "assistant").length;
}

/** Counts the batches at the turn's end in which every call failed. A success or a user message resets the count. */
function failedBatches(turn: readonly Entry[]): number {
  const sinceGood = turn.findLastIndex(
    (entry) =>
      entry.role === "user" ||
      (entry.role === "assistant" && entry.calls.some((call) => call.outcome?.status === "success")),
  );
  return turn.slice(sinceGood + 1).filter((entry) => entry.role === "assistant" && entry.calls.length > 0)
    .length;
}

/** Returns the most failures of one and the same call, not only in a row. A user message resets the count. */
function sameFailures(turn: readonly Entry[]): number {
  const sinceAsked = turn.slice(turn.findLastIndex((entry) => entry.role === "user") + 1);
  const failures = new Map<string, number>();
  for (const entry of sinceAsked) {
    for (const call of entry.role === "assistant" ? entry.calls : []) {
      // Equal calls of one reply are one failure.
      if (call.outcome?.status !== "error" || call.same !== undefined) continue;
      // Unreadable arguments are stored as empty, so the problem's text distinguishes such calls.
      const same = canonicalJson([call.name, call.args, call.problem]);
      failures.set(same, (failures.get(same) ?? 0) + 1);
    }
  }
  return Math.max(0, ...failures.values());
}

function maxRepeats(limits: LoopLimits): number {
  return limits.maxRepeats ?? DEFAULT_LIMITS.maxRepeats;
}

/** Returns the instruction for the model to sum up without tools. */
export function limitNote(limit: Limit, limits: LoopLimits): string {
  const why = {
    iterations: `The limit of ${limits.maxModelCalls} steps for this question is reached.`,
    errors: `${limits.maxFailedBatches} attempts in a row failed.`,
    repeats: `The same call failed ${maxRepeats(limits)} times.`,
  }[limit];
  return `${why} Answer now, without tools: sum up what you found, and say plainly what did not work or is unknown.`;
}
