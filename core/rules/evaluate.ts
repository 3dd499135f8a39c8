/**
 * The state machine of a watch, the same at an agent, in the bridge and in Home. Pure: the caller stores the state, brings
 * values, and calls again at the time that `nextDue` names. docs/using/rules.md has a picture of it.
 *
 * A rule is firing or not. A value that says the opposite begins a turn, and when that has lasted for the hold, the rule
 * changes. While there is no value, nothing changes: unknown never fires and is never over.
 */
import { check, type Parsed, z } from "../protocol/parse.ts";
import { COUNT_MAX, KnownState, type RuleChange, RuleValue, type WatchCondition } from "../protocol/rules.ts";
import { windowMs } from "../test-clock.ts";
import { MINUTE_MS } from "../time/zone.ts";
import { isEqual, type RawValue, readValue, type Value } from "./value.ts";
import { isMomentary } from "./watch-rule.ts";
import { isInside, nextEdge } from "./window.ts";

/** Events and changes after one that was told are counted, and told together after this time. */
const GATHER_MS = windowMs(MINUTE_MS, 2_000);
/** 18.2 − 18.1 is a little less than 0.1. */
const ROUNDING = 1e-9;
/** Of a rule without `stale_ms`: a device that says "unavailable" for so long is told as unknown. */
const UNAVAILABLE_MS = 10 * MINUTE_MS;

const instant = z.number();
const count = z.int().check(z.minimum(0));

export const RuleState = z.object({
  /** When it was last looked at, epoch ms as all times here. */
  at: instant,
  /** When watching began: before that, silence says nothing. */
  began: instant,
  ...KnownState.shape,
  /** Since when the value says the opposite: true before a firing, false within one. */
  turning: z.optional(instant),
  /** The last value. */
  last: z.optional(z.object({ value: RuleValue, at: instant })),
  /** Since when the device says that it has no value. */
  missing: z.optional(instant),
  /** It was told as unknown. */
  unknown: z.boolean(),
  /** It is true by a command of ours, and counts as false until it was false. */
  excused: z.optional(z.boolean()),
  /** Of `changes`: the value that the next one is compared with. */
  base: z.optional(RuleValue),
  /** Of moments: when one was last told, and those since. */
  told_at: z.optional(instant),
  more: z.optional(z.object({ count, since: instant })),
  /** Of `once`: it has fired. */
  ended: z.optional(z.boolean()),
});
export type RuleState = z.infer<typeof RuleState>;

/**
 * What happened. A value, the word that there is none, or only that time has passed.
 * @property own a command of ours caused this value
 */
export type StepInput = { at: number } & (
  | (RawValue & { own?: boolean | undefined })
  | { missing: true }
  | { tick: true }
);

export type Step = { state: RuleState; change?: RuleChange };

/**
 * @param known where the rule was evaluated before, elsewhere or in another version: a firing that was told is not told again, and
 *   the next value is told after a gap that was
 */
export function initialState(
  at: number,
  known: KnownState & { unknown?: boolean } = { seq: 0, occurrence: 0 },
): RuleState {
  const { seq, occurrence, open, unknown = false } = known;
  return { at, began: at, seq, occurrence, unknown, ...(open && { open }) };
}

/** Reads a state from a file. */
export function readState(stored: unknown): Parsed<RuleState> {
  return check(RuleState, stored);
}

/** After a restart: a firing goes on, holds start anew, and no value counts before it came again. No span goes over it. */
export function restarted(state: RuleState, at: number): RuleState {
  const { turning: _, ...kept } = withClock(state, at);
  return { ...kept, at, began: at, missing: at };
}

/** A clock that is adjusted, also by a step each hour, moves a hold. By more the machine may have been asleep. */
const ADJUSTED_MS = 30_000;

/**
 * The clock was set while the rule was watched. What was measured stays as long as it was. A hold begins anew, unless the clock was
 * only adjusted: otherwise a hold that is longer than the time between two adjustments would never end.
 * @param by ms; below 0 is back
 * @param now epoch ms by the new clock
 */
export function withClockSet(state: RuleState, by: number, now: number): RuleState {
  const { began, open, turning, last, missing, told_at, more } = state;
  const moved = (time: number) => Math.max(time + by, 0);
  return {
    ...state,
    at: now,
    began: moved(began),
    ...(open && { open: { at: moved(open.at), since: moved(open.since) } }),
    ...(turning !== undefined && { turning: Math.abs(by) > ADJUSTED_MS ? now : moved(turning) }),
    ...(last && { last: { ...last, at: moved(last.at) } }),
    ...(missing !== undefined && { missing: moved(missing) }),
    ...(told_at !== undefined && { told_at: moved(told_at) }),
    ...(more && { more: { ...more, since: moved(more.since) } }),
  };
}

/** A hold that ended so long ago was not looked at in time. */
const LATE_MS = 2 * MINUTE_MS;

/**
 * For a place without a steady clock that is woken at the end of a hold. When that end is long over, the machine was off or its clock
 * was set ahead: nothing was measured meanwhile, so the hold begins anew.
 */
export function withMissedHold(rule: WatchCondition, state: RuleState, now: number): RuleState {
  const { turning, open } = state;
  const isMissed = turning !== undefined && now - (turning + holdOf(rule, open)) > LATE_MS;
  return isMissed ? { ...state, at: now, turning: now } : state;
}

/** Takes one step. A repeated value is a step without a change. */
export function step(rule: WatchCondition, state: RuleState, input: StepInput): Step {
  if (state.ended) return { state };
  const before = withClock(state, input.at);
  return isMomentary(rule) ? stepMoment(rule, before, input) : stepLevel(rule, before, input);
}

/** When to call `step` with a tick, epoch ms; undefined when nothing but a value can change anything. */
export function nextDue(rule: WatchCondition, state: RuleState): number | undefined {
  if (state.ended) return undefined;
  const { at, open, turning, last } = state;
  const times: number[] = [];
  const inside = isWatching(rule, at);
  if (state.more) times.push((state.told_at ?? at) + GATHER_MS);
  const silent = silentSince(rule, state);
  if (inside && !state.unknown && silent !== undefined) times.push(silent + silenceMax(rule));
  if (inside && turning !== undefined && !isUnknown(rule, state)) times.push(turning + holdOf(rule, open));
  if (rule.only_between && !isMomentary(rule)) {
    const waits = inside ? open !== undefined || turning !== undefined : last && isTrue(rule, last.value);
    if (waits) times.push(nextEdge(rule.only_between, at));
  }
  return times.length === 0 ? undefined : Math.max(Math.min(...times), at);
}

/** The state in a word, for people. */
export type Phase = "idle" | "pending" | "firing" | "clearing" | "unknown";

export function phaseOf({ unknown, missing, open, turning }: RuleState): Phase {
  if (unknown || missing !== undefined) return "unknown";
  if (open) return turning === undefined ? "firing" : "clearing";
  return turning === undefined ? "idle" : "pending";
}

/** Tells whether a value begins a firing. */
export function isTrue(rule: WatchCondition, value: Value): boolean {
  const { is, value: limit } = rule;
  switch (is) {
    case "above":
      return typeof value === "number" && typeof limit === "number" && value > limit;
    case "below":
      return typeof value === "number" && typeof limit === "number" && value < limit;
    case "equal":
      return limit !== undefined && isEqual(value, limit);
    case "not_equal":
      return limit !== undefined && !isEqual(value, limit);
    case "online":
      return value === true;
    case "offline":
      return value === false;
    case "happens":
      return limit === undefined || isEqual(value, limit);
    case "changes":
      return false;
  }
}

/** Tells whether a value ends a firing: it has gone back by the hysteresis. */
function isOver(rule: WatchCondition, value: Value): boolean {
  const { is, value: limit, hysteresis } = rule;
  if (typeof value === "number" && typeof limit === "number") {
    if (is === "above") return value <= limit - hysteresis;
    if (is === "below") return value >= limit + hysteresis;
  }
  return !isTrue(rule, value);
}

/** A clock that was set back begins holds anew where there is no steady clock. Otherwise it would stop them until it has caught up. */
function withClock(state: RuleState, now: number): RuleState {
  if (now >= state.at) return { ...state, at: now };
  const { turning, missing, last, told_at, more } = state;
  return {
    ...state,
    at: now,
    began: Math.min(state.began, now),
    ...(turning !== undefined && { turning: now }),
    ...(missing !== undefined && { missing: Math.min(missing, now) }),
    ...(last && { last: { ...last, at: Math.min(last.at, now) } }),
    ...(told_at !== undefined && { told_at: Math.min(told_at, now) }),
    ...(more && { more: { ...more, since: Math.min(more.since, now) } }),
  };
}

function stepLevel(rule: WatchCondition, state: RuleState, input: StepInput): Step {
  const now = state.at;
  let next = withInput(rule, state, input);
  if (!isWatching(rule, now)) {
    next = without(next, "turning");
    if (!next.open) return told(rule, state, next);
    return told(rule, state, { ...without(next, "open"), unknown: false }, { why: "window" });
  }
  if (isUnknown(rule, next)) {
    return told(rule, state, isSilent(rule, next) ? { ...next, unknown: true } : next);
  }
  const { last, open } = next;
  if (!last) return { state: next };
  const turns = open ? isOver(rule, last.value) : isTrue(rule, last.value) && !next.excused;
  if (!turns) return told(rule, state, without(next, "turning"));
  const turning = next.turning ?? now;
  if (now - turning < holdOf(rule, open)) return told(rule, state, { ...next, turning });
  const turned = without(next, "turning");
  if (open) return told(rule, state, without(turned, "open"), { until: turning });
  const fired = { ...turned, open: { at: now, since: turning }, occurrence: state.seq + 1 };
  const change = told(rule, state, fired);
  if (rule.repeat === "once") change.state = { ...change.state, ended: true };
  return change;
}

function stepMoment(rule: WatchCondition, state: RuleState, input: StepInput): Step {
  const now = state.at;
  let next = withInput(rule, state, input);
  const value = "value" in input && next.missing === undefined ? next.last?.value : undefined;
  if (value !== undefined) {
    const counts = rule.is === "happens" ? isTrue(rule, value) : isOther(rule, next.base, value);
    if (rule.is === "changes" && (counts || next.base === undefined)) next = { ...next, base: value };
    if (counts && !isByUs(rule, input) && isWatching(rule, now)) next = { ...next, more: oneMore(next, now) };
  }
  const { more, told_at } = next;
  if (!more || (told_at !== undefined && now - told_at < GATHER_MS)) {
    const isLong = isWatching(rule, now) && isSilent(rule, next);
    return told(rule, state, isLong ? { ...next, unknown: true } : next);
  }
  const seq = state.seq + 1;
  const ended = rule.repeat === "once" && { ended: true };
  return {
    state: { ...without(next, "more"), seq, occurrence: seq, told_at: now, ...ended },
    change: { ...changeOf(rule, next, "firing", seq), occurrence: seq, since: more.since, count: more.count },
  };
}

function oneMore({ more }: RuleState, now: number): NonNullable<RuleState["more"]> {
  return { count: Math.min((more?.count ?? 0) + 1, COUNT_MAX), since: more?.since ?? now };
}

/** Tells for `changes` whether a value is another one. The first value is none. */
function isOther({ hysteresis }: WatchCondition, base: Value | undefined, value: Value): boolean {
  if (base === undefined) return false;
  if (typeof base === "number" && typeof value === "number")
    return value !== base && Math.abs(value - base) >= hysteresis * (1 - ROUNDING);
  return !isEqual(base, value);
}

/** Puts the input in. A value after a gap begins a hold anew, since nobody knows what was between. */
function withInput(rule: WatchCondition, state: RuleState, input: StepInput): RuleState {
  const now = state.at;
  if ("tick" in input) return state;
  const value = "value" in input ? readValue(input, rule.type, rule.unit) : undefined;
  if (value === undefined) return { ...state, missing: state.missing ?? now };
  const known = { ...without(state, "missing"), last: { value, at: now }, unknown: false };
  const counted = isExcused(rule, state, value, input)
    ? { ...known, excused: true }
    : without(known, "excused");
  return isSilent(rule, state) ? without(counted, "turning") : counted;
}

/** Since when there is no sign of the value. Undefined: the device need not speak. */
function silentSince(rule: WatchCondition, { missing, last, began }: RuleState): number | undefined {
  if (rule.is === "happens") return undefined;
  return rule.stale_ms === undefined ? missing : Math.max(last?.at ?? began, began);
}

function silenceMax({ stale_ms }: WatchCondition): number {
  return stale_ms ?? UNAVAILABLE_MS;
}

function isUnknown(rule: WatchCondition, state: RuleState): boolean {
  return state.unknown || state.missing !== undefined || isSilent(rule, state);
}

/** Tells whether there has been no sign of the value for so long that it is said, and that a hold begins anew. */
function isSilent(rule: WatchCondition, state: RuleState): boolean {
  const silent = silentSince(rule, state);
  return silent !== undefined && state.at - silent >= silenceMax(rule);
}

function isWatching({ only_between }: WatchCondition, at: number): boolean {
  return !only_between || isInside(only_between, at);
}

/** A rule with a hold is about how long something lasts, whoever began it. */
function isExcused(
  rule: WatchCondition,
  { open, excused }: RuleState,
  value: Value,
  input: StepInput,
): boolean {
  if (open || rule.hold_ms > 0 || !isTrue(rule, value)) return false;
  return excused === true || isByUs(rule, input);
}

function isByUs({ tell_own }: WatchCondition, input: StepInput): boolean {
  return "own" in input && input.own === true && !tell_own;
}

function holdOf(rule: WatchCondition, open: RuleState["open"]): number {
  return open ? rule.clear_hold_ms : rule.hold_ms;
}

/** Adds a change, if there is one to tell. */
function told(
  rule: WatchCondition,
  before: RuleState,
  next: RuleState,
  more: Pick<RuleChange, "until" | "why"> = {},
): Step {
  const [was, is] = [stateOf(before), stateOf(next)];
  if (was === is && before.occurrence === next.occurrence) return { state: next };
  const seq = before.seq + 1;
  const ended = before.open && !next.open ? before.open : undefined;
  const since = is === "firing" ? next.open?.since : is === "unknown" ? next.last?.at : ended?.since;
  const change = { ...changeOf(rule, next, is, seq), ...(since !== undefined && { since }), ...more };
  return { state: { ...next, seq }, change };
}

function changeOf(
  rule: WatchCondition,
  { at, occurrence, last }: RuleState,
  state: RuleChange["state"],
  seq: number,
): RuleChange {
  return {
    rule: rule.id,
    version: rule.version,
    seq,
    state,
    occurrence,
    at,
    ...(last && { value: last.value }),
    ...(rule.unit !== undefined && { unit: rule.unit }),
  };
}

function stateOf({ unknown, open }: RuleState): RuleChange["state"] {
  return unknown ? "unknown" : open ? "firing" : "idle";
}

function without<Name extends keyof RuleState>(state: RuleState, name: Name): RuleState {
  const { [name]: _, ...rest } = state;
  // SAFETY: only names of optional fields are passed.
  return rest as RuleState;
}
