/** The state that the parts of the machine share while it takes one step, and how a run is told. */
import type { Automation, AutomationRun, StepOutcome } from "../protocol/automation.ts";
import { DAY_MS } from "../time/zone.ts";
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

/** A person can undo a run for so long after its end. */
const UNDO_MS = DAY_MS;

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

/** The run changed nothing. */
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

function told({ rule, now }: Turn, run: Run, isEnded: boolean): AutomationRun {
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
  // A person's undo that fails is no fault of the run.
  const until = ending?.why === "undo" ? first : undefined;
  if (why !== undefined || hasFailed(run, 0, until)) return "stopped";
  if (!isEnded) return "running";
  const isBack = ends.some((step) => isTouched(run, step)) && !hasFailed(run, first);
  if (isBack && isUndo(rule, ending?.why)) return "undone";
  const isCut = steps.filter(({ step }) => step < first).length < first;
  return ending && !["over", "at_most"].includes(ending.why) && isCut ? "stopped" : "done";
}

/** Something of what it did can be brought back now, and no end did so. */
function isUndoable(
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

/**
 * Tells whether a person can undo this firing: something of it can be brought back now, it was not ended, and its end is no more than a
 * day ago. Later a person may have chosen anew what it once changed to, and values alone do not tell that.
 */
export function canUndo(
  rule: Automation,
  state: AutomationState,
  firing: number,
  now: Pick<Surroundings, "at" | "has_way_back">,
): boolean {
  const { run } = state;
  if (run) return run.firing === firing && run.phase !== "end" && !run.ending && isUndoable(rule, run, now);
  const ended = endedOf(state, firing);
  return ended !== undefined && !isLongOver(ended, now.at) && isUndoable(rule, ended, now);
}

/** @param at epoch ms @returns whether a run that has ended is over for too long to be undone */
export function isLongOver(run: Run, at: number): boolean {
  return at - (run.ended ?? run.at) > UNDO_MS;
}

/** @returns the last run, or the last one that changed something, if it is this firing. Not all of them can be undone */
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
