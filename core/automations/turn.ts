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

/** @param from the number of the first step that counts */
export function hasFailed({ steps, kept }: Run, from = 0): boolean {
  return steps.some(({ step, outcome }) => step >= from && isFailure(outcome) && !kept.includes(step));
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
  return told({ rule, now: { at } }, run, true);
}

function told(
  { rule, now }: { rule: Automation; now: Pick<Surroundings, "at"> },
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
    ...(isEnded && isUndoable(rule, run) && { undo: true }),
  };
}

function toldState(rule: Automation, run: Run, isEnded: boolean): AutomationRun["state"] {
  const { steps, why, ending, ends } = run;
  if (!rule.do.some((_, step) => isTouched(run, step)) && (why !== undefined || ending !== undefined))
    return steps.length === 0 ? "not_run" : "stopped";
  if (why !== undefined || hasFailed(run)) return "stopped";
  if (!isEnded) return "running";
  if (ends.length > 0 && isUndo(rule, ending?.why)) return "undone";
  return ending && !["over", "at_most"].includes(ending.why) && steps.length < rule.do.length
    ? "stopped"
    : "done";
}

/** A person can undo what it did: values before are known, and no end changed them since. */
export function isUndoable(rule: Automation, run: Run): boolean {
  if (run.steps.some(({ step }) => step >= rule.do.length)) return false;
  return rule.do.some((_, step) => isTouched(run, step) && run.before[step] !== undefined);
}

/** Its end brings the values before back, in place of the steps of `end`. */
export function isUndo({ over }: Automation, why: Why | undefined): boolean {
  return over === "undo" || why === "undo";
}
