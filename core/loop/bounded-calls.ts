/**
 * Bounds what one reply of a model may run. Equal calls run once and share the result, and a limited number of different ones
 * runs: models that repeat themselves were seen to ask for the same command hundreds of times.
 */
import { canonicalJson } from "../protocol/approval.ts";
import type { Call, Outcome } from "./history.ts";

/** Different calls of one reply that run. */
const MAX_DIFFERENT = 64;
/** Calls of one reply that are kept. A reply of half a megabyte may hold many thousand, and they are stored in one row. */
const MAX_KEPT = 512;

/**
 * Marks equal calls of a reply, and answers those that are too many. Equal are calls of the same tool with the same arguments
 * as the model wrote them, `id` and `after` included: with another `after` a call is meant to run once more.
 * @param isOthers true for a call that another program runs, which may have its own rules
 */
export function boundCalls<C extends Call>(calls: readonly C[], isOthers: (call: C) => boolean = none): C[] {
  const firsts = new Map<string, C>();
  return calls.slice(0, MAX_KEPT).map((call) => {
    if (isOthers(call)) return call;
    const key = canonicalJson([call.name, call.args, call.problem]);
    const first = firsts.get(key);
    if (!first) {
      const kept = firsts.size < MAX_DIFFERENT ? call : { ...call, outcome: tooMany(calls.length) };
      firsts.set(key, kept);
      return kept;
    }
    const same = { ...call, same: first.id };
    return first.outcome ? { ...same, outcome: sharedOutcome(first, first.outcome) } : same;
  });
}

/** Returns the outcome of a call that is equal to another one of its reply. What is counted or shown once stays with that one. */
export function sharedOutcome({ modelCallId }: Pick<Call, "modelCallId">, outcome: Outcome): Outcome {
  const { status, errorType, args, routed, unsent } = outcome;
  const isError = status === "error";
  return {
    status,
    text: `${isError ? "Error: " : ""}Equal to the call ${modelCallId} of this reply. Equal calls run once: the result stands there.`,
    elapsedMs: 0,
    sources: [],
    ...(errorType && { errorType }),
    ...(args && { args }),
    ...(routed && { routed }),
    ...(unsent && { unsent }),
  };
}

function tooMany(count: number): Outcome {
  return {
    status: "error",
    errorType: "execution_failed",
    text: `Error: Not run: this reply has ${count} calls, and the first ${MAX_DIFFERENT} different ones run. Nothing was run.`,
    advice: "Ask for this again in a further step, if it is still needed.",
    elapsedMs: 0,
    sources: [],
    unsent: true,
  };
}

function none(): boolean {
  return false;
}
