/** A rule's state after a start of the bridge, or after the clock was set. */
import { type RuleState, restarted, withClockSet } from "../rules/evaluate.ts";
import { windowMs } from "../test-clock.ts";
import { HOUR_MS, MINUTE_MS } from "../time/zone.ts";
import { actionId, type LedgerSays, type Run } from "./state.ts";
import { isOpen, LATE_CONFIRMATION_MS, LATE_MS, lookAt, onOutcome, presentStep } from "./steps.ts";
import { needsEnd, type Turn } from "./turn.ts";

/** After a start or a new connection nothing begins for so long. */
const QUIET_MS = windowMs(MINUTE_MS, 1_000);

/** A step may wait for so long for a try, or for the home's limits. */
const HELD_MAX_MS = LATE_MS;

/** Nothing begins for a minute, and a moment that waits is left out. */
export function quiet(turn: Turn): void {
  const { state, now } = turn;
  turn.state = { ...state, quiet_until: Math.max(state.quiet_until, now.at + QUIET_MS), moment: undefined };
}

/**
 * The bridge began anew. Holds begin anew, and what was out is looked up in the ledger: it is never sent a second time.
 * @param ledger what the ledger says of an action's id
 */
export function onRestart(turn: Turn, ledger: (id: string) => LedgerSays): void {
  const { now, state } = turn;
  turn.state = {
    ...state,
    at: now.at,
    conditions: state.conditions.map(({ rule, led }) => ({ rule: anew(rule, state.armed, now.at), led })),
    gap: now.at,
    missed: undefined,
    begun: state.begun.map((at) => Math.min(at, now.at)),
    refused: undefined,
    resting: state.resting === undefined ? undefined : Math.min(state.resting, now.at + HOUR_MS),
    quiet_until: now.at,
    unsure: true,
  };
  quiet(turn);
  lookOn(turn);
  const { run } = state;
  if (!run) return;
  const before = (what: "from" | "at_most" | "interrupted") =>
    run[what] === undefined ? undefined : (run.uncut?.[what] ?? run[what]);
  const interrupted = before("interrupted") ?? before("from") ?? state.at;
  const found: Run = {
    ...run,
    ...(run.phase === "do" && { recheck: true, interrupted }),
    uncut: { from: before("from"), at_most: before("at_most"), interrupted },
  };
  const after: Run = { ...found, ...inItsTime(turn, found) };
  turn.state = { ...turn.state, run: after };
  if (run.out) lookUp(turn, after, ledger);
}

/**
 * A moment from before would come too late. While a step to true counts, a condition that was held may have ended without a word on the
 * disk, so it is held anew.
 */
function anew(state: RuleState, isArmed: boolean, at: number): RuleState {
  const { more: _, open, ...kept } = restarted(state, at);
  return isArmed || !open ? kept : { ...kept, open };
}

/** @returns times from before a start: a clock that is behind makes no wait and no limit longer than the rule has it */
function inItsTime({ rule, now }: Turn, run: Run): Partial<Run> {
  const { from, at_most, interrupted, uncut, step, phase } = run;
  const waitMs = phase === "do" ? (rule.do[step]?.wait_minutes ?? 0) * MINUTE_MS : 0;
  const mostMs = (rule.at_most_minutes ?? 0) * MINUTE_MS;
  const within = (at: number, ms: number) => Math.min(at, now.at + ms);
  return {
    ...(from !== undefined && { from: within(uncut?.from ?? from, Math.max(waitMs, HELD_MAX_MS)) }),
    ...(at_most !== undefined && { at_most: within(uncut?.at_most ?? at_most, mostMs) }),
    ...(interrupted !== undefined && { interrupted: within(uncut?.interrupted ?? interrupted, 0) }),
  };
}

function lookUp(turn: Turn, run: Run, ledger: (id: string) => LedgerSays): void {
  const { rule } = turn;
  const step = presentStep(run);
  const look = step === undefined ? undefined : lookAt(rule, run, step, "now");
  if (step === undefined || !look) return;
  const { firing } = run;
  const id = actionId(rule, firing, step);
  const says = ledger(id);
  if (says === "none") turn.state = { ...turn.state, run: { ...run, out: false } };
  else if (says === "sent") turn.effects.push(look);
  else {
    const ended = says === "begun" ? { outcome: "unknown" as const, text: "" } : says;
    onOutcome(turn, { of: "outcome", firing, step, ...ended });
  }
}

/** A late confirmation is watched for on. */
function lookOn({ state: { run, last }, rule, now, effects }: Turn): void {
  for (const one of [last, run])
    for (const { step, outcome, at } of one?.steps ?? []) {
      const look = one && lookAt(rule, one, step, at + LATE_CONFIRMATION_MS);
      if (look && isOpen({ outcome, at }, now.at)) effects.push(look);
    }
}

/**
 * The clock was set by so many ms while the bridge ran. What was measured stays as long as it was. Times from before a start stay where
 * they were to be, since the time that the bridge was off is in them, until the clock is known to be right.
 */
export function onClockSet(turn: Turn, by: number): void {
  const { state, now } = turn;
  const moved = (at: number) => at + by;
  const { run, missed, resting, moment, gap, refused } = state;
  turn.state = {
    ...state,
    at: now.at,
    conditions: state.conditions.map((one) => ({ ...one, rule: withClockSet(one.rule, by, now.at) })),
    begun: state.begun.map(moved),
    quiet_until: moved(state.quiet_until),
    gap: gap === undefined ? undefined : moved(gap),
    missed: missed === undefined ? undefined : moved(missed),
    resting: resting === undefined ? undefined : moved(resting),
    refused: refused === undefined ? undefined : moved(refused),
    moment: moment && { ...moment, at: moved(moment.at) },
    // A time that was left out is late; one that comes again was done (`days`).
    next: by < 0 ? undefined : state.next,
    run: run && movedRun(turn, run, by),
  };
}

function movedRun(turn: Turn, run: Run, by: number): Run {
  const { rule, state } = turn;
  const { from, interrupted, at_most, ending } = run;
  const moved = (at: number | undefined) => (at === undefined ? undefined : at + by);
  const after: Run = {
    ...run,
    from: moved(from),
    interrupted: moved(interrupted),
    // An end of what does harm comes too early rather than too late.
    at_most: needsEnd(rule) && by > 0 ? at_most : moved(at_most),
    uncut: state.unsure ? run.uncut : undefined,
    ending: ending && { ...ending, at: ending.at + by },
  };
  return after.uncut ? { ...after, ...inItsTime(turn, after) } : after;
}
