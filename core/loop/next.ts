/** What a turn does next: a function of its entries. Pure, so a crash costs a re-read and nothing else. */
import type { Call, Entry } from "./history.ts";

export type LoopLimits = {
  /** Model calls in a turn that are offered tools (the seed's `max_tool_iterations`). */
  maxModelCalls: number;
  /** Batches in a row in which every call failed (the seed's `tool_error_limit`). */
  maxFailedBatches: number;
  /** Calls at once. */
  maxParallel: number;
};

export const DEFAULT_LIMITS: LoopLimits = { maxModelCalls: 10, maxFailedBatches: 3, maxParallel: 5 };

export type Next =
  | { do: "model"; tools: true }
  /** A limit is reached: the model is asked once more, without tools, to sum up what it has. */
  | { do: "model"; tools: false; limit: "iterations" | "errors" }
  | { do: "calls"; calls: Call[] }
  | { do: "done"; text: string };

/** @param turn the entries of one turn, from the user's message on */
export function nextOf(turn: readonly Entry[], limits: LoopLimits): Next {
  const last = turn.at(-1);
  if (last?.role === "assistant") {
    if (last.calls.length === 0) return { do: "done", text: last.text };
    const open = last.calls.filter((call) => call.outcome === undefined);
    if (open.length > 0) return { do: "calls", calls: open };
  }
  if (failedBatches(turn) >= limits.maxFailedBatches) return { do: "model", tools: false, limit: "errors" };
  if (modelCalls(turn) >= limits.maxModelCalls) return { do: "model", tools: false, limit: "iterations" };
  return { do: "model", tools: true };
}

export function modelCalls(turn: readonly Entry[]): number {
  return turn.filter((entry) => entry.role === "assistant").length;
}

/** How many batches at the end of the turn failed as a whole; a success or a user's message starts anew. */
function failedBatches(turn: readonly Entry[]): number {
  const sinceGood = turn.findLastIndex(
    (entry) => entry.role === "user" || entry.calls.some((call) => call.outcome?.status === "success"),
  );
  return turn.length - 1 - sinceGood;
}

/** What the model is told when it is asked to sum up without tools. */
export function limitNote(limit: "iterations" | "errors", limits: LoopLimits): string {
  const why =
    limit === "iterations"
      ? `The limit of ${limits.maxModelCalls} steps for this question is reached.`
      : `${limits.maxFailedBatches} attempts in a row failed.`;
  return `${why} Answer now, without tools: sum up what you found, and say plainly what did not work or is unknown.`;
}
