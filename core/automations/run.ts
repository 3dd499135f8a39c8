/**
 * The machine of a rule that acts: it combines the conditions, begins runs, and carries their steps on. Pure: the caller stores the
 * state, does the effects, and calls again at the time that `nextDue` names.
 *
 * The order is the contract: state and what is to be told are on the disk, in one write, before any other effect is done. An outcome
 * leaves the ledger only when the state that has it is on the disk.
 */
import type { Automation } from "../protocol/automation.ts";
import { nextDue as conditionDue } from "../rules/evaluate.ts";
import { windowMs } from "../test-clock.ts";
import { DAY_MS, HOUR_MS, MINUTE_MS } from "../time/zone.ts";
import { combinedOf, ledTo, stepConditions, steppedHere, withTruth } from "./conditions.ts";
import { isAllowedNow } from "./only-if.ts";
import { onClockSet, onRestart, quiet } from "./restart.ts";
import type { Advanced, AutomationInput, AutomationState, Run, Surroundings } from "./state.ts";
import { carryOn, LATE_MS, onLate, onOutcome, onUndo, stop } from "./steps.ts";
import { nextMoment } from "./times.ts";
import { heldTruth } from "./truth.ts";
import { isHeld, type Turn, tellNotRun } from "./turn.ts";

/** A step to true that was not seen has to last for so long. */
const MISSED_HOLD_MS = windowMs(MINUTE_MS, 2_000);
/** Between two looks at `only_if`. */
const REFUSED_MS = windowMs(MINUTE_MS, 2_000);
/** A moment waits for its turn among the home's rules for so long at most. */
const MOMENT_MS = MINUTE_MS;
/** The time in which `an_hour` counts. */
const RATE_MS = windowMs(HOUR_MS, MINUTE_MS);
/** Runs of rules that led to one another. The next one is a loop. */
const LED_MAX = 3;
/** A clock that is set back comes to days again that were done. */
const DAYS_KEPT = 4;
/** Of times that were missed, only the newest counts. */
const LOOK_BACK_MS = 2 * DAY_MS;

/** Takes one step. */
export function advance(
  rule: Automation,
  state: AutomationState,
  input: AutomationInput,
  now: Surroundings,
): Advanced {
  const turn: Turn = { rule, now, state, effects: [] };
  if (input.of === "clock_set") onClockSet(turn, input.by);
  if (input.of === "restarted") onRestart(turn, input.ledger);
  const { state: stepped, pulses, led } = stepConditions(rule, turn.state, input, now.at);
  turn.state = withTruth(rule, stepped);
  if (turn.state.run && stepped.level === false && turn.state.level) {
    countOne(turn);
    turn.state = { ...turn.state, armed: false };
  }
  if (input.of === "connected") quiet(turn);
  if (input.of === "stop") stop(turn, input.why);
  if (input.of === "outcome") onOutcome(turn, input);
  if (input.of === "late") onLate(turn, input);
  if (input.of === "undo") onUndo(turn, input.firing);
  carryOn(turn);
  const isPulse = pulses.size > 0 && combinedOf(rule, turn.state, heldTruth, pulses) === true;
  if (!turn.state.stopped) {
    onMoment(turn, isPulse ? { led, because: now.because() } : undefined);
    onLevel(turn);
    onTime(turn);
  }
  carryOn(turn);
  const after = withTruth(rule, turn.state);
  return { state: now.sure ? { ...after, unsure: false } : after, effects: turn.effects };
}

/** @returns when to call `advance` with a tick, epoch ms; undefined: nothing but an input can change anything */
export function nextDue(
  rule: Automation,
  state: AutomationState,
  now: Pick<Surroundings, "sure" | "begin_from">,
): number | undefined {
  const { at, conditions, run, moment, next, armed, stopped, quiet_until } = state;
  const times = conditions.map((one, index) => {
    const condition = rule.when[index];
    return condition && conditionDue(steppedHere(condition), one.rule);
  });
  if (run && !run.out) times.push(run.from !== undefined && run.from <= at ? run.from + LATE_MS : run.from);
  if (run && !run.ending) times.push(run.at_most);
  if (!stopped) {
    if (moment) times.push(now.begin_from);
    if (next && now.sure) times.push(Math.max(next.at, quiet_until, now.begin_from));
    if (armed && !run && isHeld({ rule, state }) === true) times.push(freeFrom(rule, state, now.begin_from));
  }
  const first = Math.min(...times.filter((time) => time !== undefined));
  return Number.isFinite(first) ? Math.max(first, at) : undefined;
}

type Moment = { led: readonly string[]; because: string[] };

/** A moment that comes while it runs, rests or pauses is counted. It waits only for its turn among the rules of the home. */
function onMoment(turn: Turn, pulse: Moment | undefined): void {
  const { state, now } = turn;
  const waiting = state.moment;
  const moment =
    waiting ??
    (pulse && now.at >= state.quiet_until
      ? { at: now.at, led: [...pulse.led], because: pulse.because }
      : undefined);
  if (!moment) return;
  if (waiting && pulse) countOne(turn);
  if (isBusy(turn)) {
    countOne(turn);
    return;
  }
  turn.state = { ...turn.state, moment: now.at < now.begin_from ? moment : undefined };
  const isDue = now.at >= now.begin_from && now.at - moment.at <= MOMENT_MS;
  if (isDue) begin(turn, true, moment);
}

/** A step from false to true, each condition for its hold. */
function onLevel(turn: Turn): void {
  const { rule, state, now } = turn;
  if (!state.armed || isHeld(turn) !== true) return;
  if (state.run || now.at < freeFrom(rule, state, now.begin_from)) return;
  turn.state = { ...state, armed: false, missed: undefined };
  const because = now.because();
  if (state.missed !== undefined && rule.do.some(({ danger }) => danger !== undefined))
    tellNotRun(turn, "missed_danger", because, true);
  else begin(turn, false, { led: ledTo(rule, state), because });
}

/** A time of the day. Of those that were missed only the newest may run, and each day has one. */
function onTime(turn: Turn): void {
  const { rule, state, now } = turn;
  if (!rule.at) return;
  const next = state.next ?? nextMoment(rule, now.at);
  turn.state = { ...state, next };
  if (!next || !now.sure || now.at < Math.max(next.at, state.quiet_until, now.begin_from)) return;
  let newest = next;
  for (let one: typeof next | undefined = next; one && one.at <= now.at; )
    [newest, one] = [one, nextMoment(rule, Math.max(one.at, now.at - LOOK_BACK_MS))];
  const isDone = ({ day }: typeof next) => state.days.includes(day);
  const isLate = now.at - newest.at >= LATE_MS;
  const days = [...state.days, newest.day].slice(-DAYS_KEPT);
  turn.state = { ...turn.state, next: nextMoment(rule, now.at), days };
  if (isLate ? !isDone(newest) : newest !== next && !isDone(next)) tellNotRun(turn, "late", [], true);
  if (isLate || isDone(newest)) return;
  if (isBusy(turn)) countOne(turn);
  else begin(turn, true, { led: [], because: now.because() });
}

function begin(turn: Turn, moment: boolean, { led, because }: Moment): void {
  const { rule, state, now } = turn;
  if (isAllowedNow(rule.only_if, { ...now, zone: rule.zone }) !== true) {
    turn.state = { ...state, refused: now.at };
    tellNotRun(turn, "only_if", because, false);
    return;
  }
  if (led.length >= LED_MAX) {
    stop(turn, "loop", { isOwn: true, led: [...led, rule.id] });
    tellNotRun(turn, "loop", because, false);
    return;
  }
  const recent = state.begun.filter((at) => at > now.at - RATE_MS);
  if (recent.length >= rule.an_hour) {
    const until = now.at + RATE_MS;
    turn.state = { ...state, resting: until };
    turn.effects.push({ of: "pause", why: "too_often", until });
    countOne(turn);
    return;
  }
  const firing = state.firing + 1;
  const run: Run = {
    ...{ firing, at: now.at, because, led: [...led], moment, phase: "do", step: 0, out: false },
    ...{ recheck: false, tries: 0, steps: [], kept: [], unchanged: [], before: {}, ends: [] },
  };
  turn.state = { ...state, firing, run, begun: [...recent, now.at], counted: 0, resting: undefined };
  turn.effects.push({ of: "begun", firing });
}

/** @returns when a step to true may run at the earliest */
function freeFrom(rule: Automation, state: AutomationState, beginFrom: number): number {
  const { quiet_until, missed, resting = 0 } = state;
  const missedUntil = missed === undefined ? 0 : missed + MISSED_HOLD_MS;
  return Math.max(quiet_until, missedUntil, resting, pauseEnd(rule, state), beginFrom);
}

/** A run that `only_if` refused is looked at again after a minute at the earliest: a sensor that flaps makes no record each time. */
function pauseEnd({ pause_ms }: Automation, { begun, refused }: AutomationState): number {
  const last = begun.at(-1);
  const ran = last === undefined ? 0 : last + windowMs(pause_ms, Math.min(pause_ms, 2_000));
  return Math.max(ran, refused === undefined ? 0 : refused + REFUSED_MS);
}

function isBusy(turn: Turn): boolean {
  const { rule, state, now } = turn;
  return state.run !== undefined || isResting(turn) || now.at < pauseEnd(rule, state);
}

function isResting({ state, now }: Turn): boolean {
  return state.resting !== undefined && now.at < state.resting;
}

function countOne(turn: Turn): void {
  turn.state = { ...turn.state, counted: turn.state.counted + 1, moment: undefined };
}
