/** Three-valued truth of a rule's conditions. Unknown is neither true nor false, and never makes a rule run. */
import { phaseOf, type RuleState } from "../rules/evaluate.ts";

/** undefined: unknown. */
export type Truth = boolean | undefined;

/** `all` with one false is false, `any` with one true is true; else an unknown makes it unknown. */
export function combined(match: "all" | "any", truths: readonly Truth[]): Truth {
  const decides = match === "any";
  if (truths.includes(decides)) return decides;
  return truths.includes(undefined) ? undefined : !decides;
}

/** Tells whether it is so, and was for its hold. */
export function heldTruth(state: RuleState): Truth {
  return isUnknown(state) ? undefined : state.open !== undefined;
}

/** Tells whether it is so at this moment, or not yet over: a rule is armed only when nothing of it is so. */
export function presentTruth(state: RuleState): Truth {
  if (isUnknown(state)) return undefined;
  return state.open !== undefined || state.turning !== undefined || state.excused === true;
}

function isUnknown(state: RuleState): boolean {
  return state.last === undefined || phaseOf(state) === "unknown";
}
