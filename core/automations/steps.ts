/** Carries the steps of a run on: its actions one after another, their outcomes, and its end. */
import type { Automation, AutomationStep } from "../protocol/automation.ts";
import { windowMs } from "../test-clock.ts";
import { cutText } from "../text/cut.ts";
import { DAY_MS, MINUTE_MS } from "../time/zone.ts";
import { isAllowedNow } from "./only-if.ts";
import { type AutomationInput, actionId, type Effect, type Run, type StepEnded, type Why } from "./state.ts";
import {
  canUndo,
  endedOf,
  hasFailed,
  isChanged,
  isFailure,
  isHeld,
  isTouched,
  isUndo,
  isWithoutChange,
  needsEnd,
  type Turn,
  tell,
} from "./turn.ts";

/** A step, or a time, that is later than this is not done any more. */
export const LATE_MS = 10 * MINUTE_MS;
/** A confirmation that comes after a step was told as unconfirmed is told within this time. */
export const LATE_CONFIRMATION_MS = 10 * MINUTE_MS;
/** Waits before another try, where nothing left. */
const TRIES_MS = [windowMs(10_000, 300), windowMs(30_000, 600), windowMs(90_000, 900)];
/** An end of what does harm is tried on, each 5 minutes for a day. */
const END_AGAIN_MS = windowMs(5 * MINUTE_MS, 2_000);
const END_MAX_MS = DAY_MS;
const TEXT_MAX = 500;

/** Moves the run on until it waits for something. */
export function carryOn(turn: Turn): void {
  while (moves(turn)) {}
}

/** @returns whether something came of it, so that there may be more to do */
function moves(turn: Turn): boolean {
  const { run } = turn.state;
  if (!run) return false;
  const ending = run.ending ?? endingOf(turn, run);
  if (ending && !run.ending) return set(turn, { ...run, ending });
  if (run.out) return false;
  if (run.phase === "end") return moveEnd(turn, run);
  if (ending) return isCutOff(run, ending) ? leaveDo(turn, run, "not_sent") : beginEnd(turn, run, ending.why);
  return run.phase === "do" && moveDo(turn, run);
}

function set(turn: Turn, run: Run): true {
  turn.state = { ...turn.state, run };
  return true;
}

function endingOf(turn: Turn, run: Run): Run["ending"] {
  const { rule, now } = turn;
  if (run.at_most !== undefined && now.at >= run.at_most) return { why: "at_most", at: now.at };
  const isOver = rule.over !== "leave" && !run.moment && isHeld(turn) === false;
  return isOver ? { why: "over", at: now.at } : undefined;
}

/** A start in the middle kept it from its first action until its end had come: nothing of it was done, and a person is told. */
function isCutOff(
  { phase, steps, from, interrupted }: Run,
  { why, at }: NonNullable<Run["ending"]>,
): boolean {
  const isDue = interrupted !== undefined && from !== undefined && from <= at;
  return phase === "do" && steps.length === 0 && isDue && (why === "over" || why === "at_most");
}

function moveDo(turn: Turn, run: Run): boolean {
  const { rule, now } = turn;
  const step = rule.do[run.step];
  if (!step) return leaveDo(turn, run);
  if (run.from === undefined) {
    const waitMs = (step.wait_minutes ?? 0) * MINUTE_MS;
    const from = (run.interrupted ?? now.at) + waitMs;
    const { uncut } = run;
    const was = uncut?.interrupted === undefined ? undefined : uncut.interrupted + waitMs;
    return set(turn, {
      ...run,
      from,
      ...(uncut && { uncut: { ...uncut, from: was } }),
      recheck: run.recheck || waitMs > 0,
    });
  }
  if (now.at < run.from) return false;
  const isLate = now.at - run.from >= LATE_MS;
  if (run.tries > 0 && (isLate || (!run.moment && isHeld(turn) === false)))
    return leaveDo(turn, run, "not_sent");
  const allowed = run.recheck ? isAllowedNow(rule.only_if, { ...now, zone: rule.zone }) : true;
  if (allowed === false) return leaveDo(turn, run, "only_if");
  if (isLate) return leaveDo(turn, run, allowed === undefined ? "only_if" : "late");
  if (allowed === undefined || (run.interrupted !== undefined && !now.sure)) return false;
  const from = now.held_until(step);
  if (from - now.at >= LATE_MS) return leaveDo(turn, run, "limits");
  if (from > now.at) return set(turn, { ...run, from });
  return giveOut(turn, run, step);
}

function giveOut(turn: Turn, run: Run, action: AutomationStep): false {
  const { rule, now } = turn;
  const before = rule.over === "off" ? undefined : now.before(action);
  const isSo = before !== undefined && now.is_so(action);
  const unchanged = (run.unchanged ?? []).filter((step) => step !== run.step);
  const hasLimit = rule.at_most_minutes !== undefined && (rule.over !== "leave" || rule.end.length > 0);
  set(turn, {
    ...run,
    ...{ out: true, from: now.at, recheck: false, interrupted: undefined },
    ...(run.uncut && { uncut: { at_most: run.uncut.at_most } }),
    // The outcome of a try before is not that of this one.
    steps: run.steps.filter(({ step: before }) => before !== run.step),
    unchanged: isSo ? [...unchanged, run.step] : unchanged,
    ...(before && { before: { ...run.before, [run.step]: before } }),
    ...(hasLimit && { at_most: run.at_most ?? now.at + (rule.at_most_minutes ?? 0) * MINUTE_MS }),
  });
  const { firing, step, led } = run;
  const id = actionId(rule, firing, step);
  turn.effects.push({ of: "do", firing, step, id, action, is_end: false, led });
  return false;
}

/** Ends the steps of `do`: all of them were done, or it goes no further. */
function leaveDo(turn: Turn, run: Run, why?: Why): boolean {
  const { rule } = turn;
  const left: Run = { ...run, phase: "held", out: false, from: undefined, ...(why && { why }) };
  const isDone = rule.do.some((_, step) => isTouched(run, step));
  const byTime = run.at_most !== undefined;
  const hasEnd = rule.over === "leave" ? byTime && rule.end.length > 0 : byTime || !run.moment;
  // A person may have asked for the way back while the step was out.
  const isUndone = run.ending?.why === "undo";
  const isLast = !isDone || !(hasEnd || isUndone);
  tell(turn, left, { aloud: isWorthSaying(turn, left), ended: isLast });
  return isLast ? end(turn, left) : set(turn, left);
}

/** Its maker gave words for a run that was done. What was not done is said in any case, but for what `only_if` and a person want. */
function isWorthSaying({ rule }: Turn, run: Run): boolean {
  if (hasFailed(run)) return true;
  if (run.why !== undefined) return run.why !== "only_if";
  return rule.say !== undefined && run.steps.length > 0;
}

function end(turn: Turn, run: Run): true {
  const { last: former, changed } = turn.state;
  const before = former && isWithoutChange(former) ? changed : former;
  // A run that changed nothing leaves the one before it to be undone.
  const changedBefore = isWithoutChange(run) ? before : undefined;
  const last = { ...run, ended: turn.now.at };
  turn.state = { ...turn.state, run: undefined, last, changed: changedBefore };
  return true;
}

function beginEnd(turn: Turn, run: Run, why: Why): true {
  if (run.phase === "do" && isWorthSaying(turn, run)) tell(turn, run, { aloud: true });
  const ends = endsOf(turn, run, why);
  return set(turn, { ...run, phase: "end", step: 0, ends, from: undefined, tries: 0 });
}

/** Numbers of the steps that end what this run did: the last first where they bring values back. */
function endsOf({ rule }: Turn, run: Run, why: Why): number[] {
  const touched = rule.do.flatMap((_, step) => (isTouched(run, step) ? [step] : []));
  const changed = touched.filter((step) => isChanged(run, step));
  if (isUndo(rule, why)) return changed.reverse().map((step) => rule.do.length + step);
  // A rule that is stopped does not reach its `at_most_minutes`, so what that would end is ended now.
  if (rule.over === "leave" && run.at_most === undefined) return [];
  const keys = new Set(touched.map((step) => rule.do[step]?.key));
  return rule.end.flatMap(({ key }, index) => (keys.has(key) ? [rule.do.length + index] : []));
}

function moveEnd(turn: Turn, run: Run): boolean {
  const { rule, now } = turn;
  const step = run.ends[run.step];
  if (step === undefined) {
    const failed = hasFailed(run, rule.do.length);
    tell(turn, run, { aloud: failed, critical: failed && needsEnd(rule), ended: true });
    return end(turn, run);
  }
  if (run.from !== undefined && now.at < run.from) return false;
  set(turn, { ...run, out: true, from: now.at, steps: run.steps.filter((before) => before.step !== step) });
  giveOutEnd(turn, run, step);
  return false;
}

/** Gives a step of the end out. Nothing holds it back. */
function giveOutEnd({ rule, effects }: Turn, run: Run, step: number): void {
  const { firing, led } = run;
  const id = actionId(rule, firing, step);
  const index = step - rule.do.length;
  const action = isUndo(rule, run.ending?.why) ? undefined : rule.end[index];
  if (action) {
    effects.push({ of: "do", firing, step, id, action, is_end: true, led });
    return;
  }
  const undoes = rule.do[index];
  if (undoes) effects.push({ of: "undo", firing, step, id, undoes, before: run.before[index], led });
}

/** The step's outcome. One that is not awaited is a repetition. */
export function onOutcome(turn: Turn, input: StepEnded): void {
  const { rule, now } = turn;
  const { run } = turn.state;
  const step = run && presentStep(run);
  if (!run?.out || run.firing !== input.firing || step !== input.step) return;
  const isEnd = run.phase === "end";
  const { outcome } = input;
  const reached: Run = {
    ...run,
    out: false,
    steps: withStep(run, { step, outcome, text: cutText(input.text, TEXT_MAX), at: now.at }),
    kept: input.kept ? [...run.kept, step] : run.kept,
  };
  const again = outcome === "not_sent" && input.again ? nextTry(turn, reached) : undefined;
  if (again !== undefined) {
    set(turn, { ...reached, tries: run.tries + 1, from: now.at + again });
    return;
  }
  const look = lookAt(rule, run, step, now.at + LATE_CONFIRMATION_MS);
  if (look && (outcome === "unconfirmed" || outcome === "unknown")) turn.effects.push(look);
  set(turn, { ...reached, step: run.step + 1, from: undefined, tries: 0 });
  if (input.pause) stop(turn, input.pause, { isOwn: true });
  if (!isEnd && isFailure(outcome) && !rule.go_on) leaveDo(turn, turn.state.run ?? reached, whyOf(outcome));
}

/** The number of the present step. */
export function presentStep({ phase, step, ends }: Run): number | undefined {
  return phase === "end" ? ends[step] : step;
}

/** @returns what to look for of a step that is not confirmed */
export function lookAt(
  rule: Automation,
  run: Pick<Run, "firing" | "ending" | "before">,
  step: number,
  until: number | "now",
): Extract<Effect, { of: "look" }> | undefined {
  const action = actionOf(rule, step);
  if (!action) return undefined;
  const index = step - rule.do.length;
  const back = index >= 0 && isUndo(rule, run.ending?.why) ? (run.before[index] ?? {}) : undefined;
  const id = actionId(rule, run.firing, step);
  return { of: "look", firing: run.firing, step, id, action, until, ...(back && { back }) };
}

/** The action of the step of this number; of an undo, the one that it undoes. */
export function actionOf(rule: Automation, step: number): AutomationStep | undefined {
  const index = step - rule.do.length;
  return rule.do[step] ?? rule.end[index] ?? rule.do[index];
}

function whyOf(outcome: StepEnded["outcome"]): Why {
  return outcome === "not_sent" || outcome === "unconfirmed" ? outcome : "unknown";
}

/** @returns the wait before the next try, ms; undefined: there is none */
function nextTry(turn: Turn, run: Run): number | undefined {
  const { rule, now } = turn;
  const wait = TRIES_MS[run.tries];
  if (run.phase !== "end") {
    const isSo = !run.ending && (run.moment || isHeld(turn) !== false);
    return isSo ? wait : undefined;
  }
  if (wait !== undefined) return wait;
  if (!needsEnd(rule) || now.at - (run.ending?.at ?? now.at) >= END_MAX_MS) return undefined;
  if (run.tries === TRIES_MS.length) tell(turn, run, { aloud: true, critical: true });
  return END_AGAIN_MS;
}

/** An earlier outcome of the step gives way. */
function withStep({ steps }: Run, one: Run["steps"][number]): Run["steps"] {
  return [...steps.filter(({ step }) => step !== one.step), one];
}

/** A confirmation of a step that was told as unconfirmed, or unknown. */
export function onLate(turn: Turn, { firing, step, text }: Extract<AutomationInput, { of: "late" }>): void {
  const { run, last } = turn.state;
  const { now } = turn;
  const told = run?.firing === firing ? run : last?.firing === firing ? last : undefined;
  const before = told?.steps.find((one) => one.step === step);
  if (!told || !before || !isOpen(before, now.at)) return;
  const steps = withStep(told, { step, outcome: "late", text: cutText(text, TEXT_MAX), at: now.at });
  const changed: Run = { ...told, steps };
  turn.state = { ...turn.state, ...(told === run ? { run: changed } : { last: changed }) };
  tell(turn, changed, { aloud: true, ended: told !== run });
}

/** A confirmation may still come. */
export function isOpen({ outcome, at }: Pick<Run["steps"][number], "outcome" | "at">, now: number): boolean {
  return (outcome === "unconfirmed" || outcome === "unknown") && now - at <= LATE_CONFIRMATION_MS;
}

/** Nothing begins any more, and a run's end is carried out. @param own it pauses by itself; `led`: of a loop, the rules in their order */
export function stop(
  turn: Turn,
  why: Why,
  { isOwn = false, led }: { isOwn?: boolean; led?: readonly string[] } = {},
): void {
  const { state, now } = turn;
  turn.state = { ...state, stopped: state.stopped ?? why, moment: undefined };
  // Each step of an end may find its device changed: that is told once.
  if (isOwn && state.stopped === undefined) turn.effects.push({ of: "pause", why, ...(led && { led }) });
  const { run } = state;
  if (run && !run.ending) set(turn, { ...run, ending: { why, at: now.at } });
}

/** A person's "undo" of the present run, or of the last one that changed something. */
export function onUndo(turn: Turn, firing: number): void {
  const { state, rule, now } = turn;
  const ending = { why: "undo" as const, at: now.at };
  const { run, last } = state;
  if (run?.firing === firing && run.phase !== "end" && !run.ending) set(turn, { ...run, ending });
  const undone = endedOf(state, firing);
  if (run || !undone || !canUndo(rule, state, firing, now)) return;
  turn.state = { ...state, last: undone === last ? undefined : last, changed: undefined };
  set(turn, { ...undone, phase: "held", ending });
}
