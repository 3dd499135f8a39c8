/** What a turn does next: a function of its entries. Pure, so a crash costs a re-read and nothing else. */
import { canonicalJson } from "../protocol/approval.ts";
import type { Call, Entry } from "./history.ts";

export type LoopLimits = {
  /** Model calls in a turn that are offered tools (the seed's `max_tool_iterations`). */
  maxModelCalls: number;
  /** Batches in a row in which every call failed (the seed's `tool_error_limit`). */
  maxFailedBatches: number;
  /** Calls at once. */
  maxParallel: number;
  /** Times that the very same call may fail; absent = 3. */
  maxRepeats?: number;
};

export const DEFAULT_LIMITS: Required<LoopLimits> = {
  maxModelCalls: 10,
  maxFailedBatches: 3,
  maxParallel: 5,
  maxRepeats: 3,
};

/** Why a turn ends with a summary: too many steps, batches that failed, or one call that failed over and over. */
export type Limit = "iterations" | "errors" | "repeats";

export type Next =
  | { do: "model"; tools: true }
  /** A limit is reached: the model is asked once more, without tools, to sum up what it has. */
  | { do: "model"; tools: false; limit: Limit }
  | { do: "calls"; calls: Call[] }
  | { do: "done"; text: string };

/** @param turn the entries of one turn, from the user's message on */
export function nextOf(turn: readonly Entry[], limits: LoopLimits): Next {
  const last = turn.at(-1);
  if (last?.role === "assistant" && last.calls.length === 0) return { do: "done", text: last.text };
  // A note may come in while calls are out: they are answered all the same before the model is asked.
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

/** How many batches at the end of the turn failed as a whole; a success or a user's message starts anew. */
function failedBatches(turn: readonly Entry[]): number {
  const sinceGood = turn.findLastIndex(
    (entry) =>
      entry.role === "user" ||
      (entry.role === "assistant" && entry.calls.some((call) => call.outcome?.status === "success")),
  );
  return turn.slice(sinceGood + 1).filter((entry) => entry.role === "assistant" && entry.calls.length > 0)
    .length;
}

/** How often the same call failed at most, whatever came between; a user's message starts anew. */
function sameFailures(turn: readonly Entry[]): number {
  const sinceAsked = turn.slice(turn.findLastIndex((entry) => entry.role === "user") + 1);
  const failures = new Map<string, number>();
  for (const entry of sinceAsked) {
    for (const call of entry.role === "assistant" ? entry.calls : []) {
      if (call.outcome?.status !== "error") continue;
      // Arguments that could not be read are empty, so the problem tells two such calls apart.
      const same = canonicalJson([call.name, call.args, call.problem]);
      failures.set(same, (failures.get(same) ?? 0) + 1);
    }
  }
  return Math.max(0, ...failures.values());
}

function maxRepeats(limits: LoopLimits): number {
  return limits.maxRepeats ?? DEFAULT_LIMITS.maxRepeats;
}

/** What the model is told when it is asked to sum up without tools. */
export function limitNote(limit: Limit, limits: LoopLimits): string {
  const why = {
    iterations: `The limit of ${limits.maxModelCalls} steps for this question is reached.`,
    errors: `${limits.maxFailedBatches} attempts in a row failed.`,
    repeats: `The same call failed ${maxRepeats(limits)} times.`,
  }[limit];
  return `${why} Answer now, without tools: sum up what you found, and say plainly what did not work or is unknown.`;
}
