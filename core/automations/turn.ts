/** The state that the parts of the machine share while it takes one step, and how a run is told. */
import type { Automation, AutomationRun, StepOutcome } from "../protocol/automation.ts";
import { combinedOf } from "./conditions.ts";
import type { AutomationState, Effect, Run, Surroundings, Why } from "./state.ts";
import { heldTruth, type Truth } from "./truth.ts";

/** One step of the machine: `state` is replaced as it goes, `effects` grow. */
export type Turn = {
  readonly rule: Automation;
  readonly now: Surroundings;
  state: AutomationState;
  readonly effects: Effect[];
};

/** Outcomes that do not say that the step did its work. */
const FAILURES: readonly StepOutcome[] = ["not_sent", "unconfirmed", "unknown"];

/** Tells whether a step with this outcome counts as failed. */
export function isFailure(outcome: StepOutcome): boolean {
  return FAILURES.includes(outcome);
}

/** @param from the number of the first step that counts @param until that of the first one behind them */
export function hasFailed({ steps, kept }: Run, from = 0, until = Number.POSITIVE_INFINITY): boolean {
  return steps.some(
    ({ step, outcome }) => step >= from && step < until && isFailure(outcome) && !kept.includes(step),
  );
}

/** The conditions are so, each for its hold. */
export function isHeld({ rule, state }: Pick<Turn, "rule" | "state">): Truth {
  return combinedOf(rule, state, heldTruth);
}

/** The rule switches on what must not stay on: its end is tried for long, and told as critical. */
export function needsEnd(rule: Automation): boolean {
  return rule.do.some(({ danger }) => danger === "heat" || danger === "noise");
}

/** Step `step` of `do` may have changed its device. */
export function isTouched({ steps }: Run, step: number): boolean {
  return steps.some((one) => one.step === step && one.outcome !== "not_sent");
}

/** Step `step` of `do` may have changed its device, which was not so before. */
export function isChanged(run: Run, step: number): boolean {
  return isTouched(run, step) && !run.unchanged?.includes(step);
}

/** It left all as it was. */
export function isWithoutChange({ steps, unchanged = [] }: Run): boolean {
  return steps.every(
    ({ step, outcome }) => outcome === "not_sent" || (outcome === "confirmed" && unchanged.includes(step)),
  );
}

type Told = { aloud: boolean; critical?: boolean; ended?: boolean };

/** Tells a run as it is now. @param run it, which may be ahead of the state */
export function tell(turn: Turn, run: Run, { aloud, critical = false, ended = false }: Told): void {
  turn.effects.push({ of: "tell", run: told(turn, run, ended), aloud, critical });
}

/** A firing of which nothing was done. It has a number too. */
export function tellNotRun(turn: Turn, why: Why, because: string[], aloud: boolean): void {
  const { rule, now, state } = turn;
  const firing = state.firing + 1;
  turn.state = { ...state, firing };
  const run: AutomationRun = {
    ...{ rule: rule.id, version: rule.version, firing, because, why },
    state: "not_run",
    at: now.at,
    ended: now.at,
    steps: [],
  };
  turn.effects.push({ of: "tell", run, aloud, critical: false });
}

/** A run that has ended, as it is told. */
export function endedRun(rule: Automation, run: Run, at: number): AutomationRun {
  return told({ rule, now: { at, has_way_back: () => false } }, run, true);
}

function told(
  { rule, now }: { rule: Automation; now: Pick<Surroundings, "at" | "has_way_back"> },
  run: Run,
  isEnded: boolean,
): AutomationRun {
  const { firing, at, because, steps, ending } = run;
  const why = run.why ?? ending?.why;
  return {
    ...{ rule: rule.id, version: rule.version, firing, at, because, steps },
    state: toldState(rule, run, isEnded),
    ...(isEnded && { ended: now.at }),
    ...(why !== undefined && { why }),
    ...(isEnded && isUndoable(rule, run, now) && { undo: true }),
  };
}

function toldState(rule: Automation, run: Run, isEnded: boolean): AutomationRun["state"] {
  const { steps, why, ending, ends } = run;
  const first = rule.do.length;
  if (!rule.do.some((_, step) => isTouched(run, step)) && (why !== undefined || ending !== undefined))
    return steps.length === 0 ? "not_run" : "stopped";
  // What a person's undo does not bring back is no fault of the run.
  const until = ending?.why === "undo" ? first : undefined;
  if (why !== undefined || hasFailed(run, 0, until)) return "stopped";
  if (!isEnded) return "running";
  const isBack = ends.some((step) => isTouched(run, step)) && !hasFailed(run, first);
  if (isBack && isUndo(rule, ending?.why)) return "undone";
  const isCut = steps.filter(({ step }) => step < first).length < first;
  return ending && !["over", "at_most"].includes(ending.why) && isCut ? "stopped" : "done";
}

/** A person can undo what it did: something of it can be brought back now, and no end did so. */
export function isUndoable(
  rule: Automation,
  run: Run,
  { has_way_back }: Pick<Surroundings, "has_way_back">,
): boolean {
  if (run.steps.some(({ step }) => step >= rule.do.length)) return false;
  return rule.do.some((action, step) => {
    const before = run.before[step];
    return before !== undefined && isChanged(run, step) && has_way_back(action, before);
  });
}

/** A run that has ended and that a person may still undo, as far as nothing was changed after it. */
export function endedOf(
  { last, changed }: Pick<AutomationState, "last" | "changed">,
  firing: number,
): Run | undefined {
  return [last, changed].find((run) => run?.firing === firing);
}

/** Its end brings the values before back, in place of the steps of `end`. */
export function isUndo({ over }: Automation, why: Why | undefined): boolean {
  return over === "undo" || why === "undo";
}
