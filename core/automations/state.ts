/** The state of a rule that acts, as the bridge keeps it in its file, and what goes into the machine and comes out of it (run.ts). */
import type { Automation, AutomationRun, AutomationStep, StepOutcome } from "../protocol/automation.ts";
import { StepRun } from "../protocol/automation.ts";
import { check, type Parsed, z } from "../protocol/parse.ts";
import { RuleValue } from "../protocol/rules.ts";
import { initialState, RuleState } from "../rules/evaluate.ts";
import type { RawValue } from "../rules/value.ts";
import type { Presence } from "./only-if.ts";
import { nextMoment } from "./times.ts";

/** Epoch ms, as all times here. */
const instant = z.number();
const count = z.int().check(z.minimum(0));

/**
 * Why a rule did not run, stopped, ended or paused. It travels as the `why` of a run, and the program that shows it has the sentence.
 * - `not_sent`, `unconfirmed`, `unknown`: the outcome of a step.
 * - `late`: its time was over by 10 minutes or more. `only_if`: it was not so. `missed_danger`: what does harm is not done for a step to
 *   true that was not seen. `limits`: the limits of the home.
 * - `over`, `at_most`, `undo`: why its end was carried out.
 * - `paused`, `dropped`, `changed_rule`: a person's doing. `device_changed`, `device_gone`, `loop`, `too_often`, `not_allowed`: the rule's
 *   own.
 */
const WHYS = [
  "not_sent",
  "unconfirmed",
  "unknown",
  "late",
  "only_if",
  "missed_danger",
  "limits",
  "over",
  "at_most",
  "undo",
  "paused",
  "dropped",
  "changed_rule",
  "device_changed",
  "device_gone",
  "loop",
  "too_often",
  "not_allowed",
] as const;
const Why = z.enum(WHYS);
export type Why = z.infer<typeof Why>;

/** Ids of the rules whose runs led to something, each by the values that it changed, the first one first. */
const Led = z.array(z.string());

/** Values before a step, by reading. */
export const ValuesBefore = z.record(z.string(), RuleValue);
export type ValuesBefore = z.infer<typeof ValuesBefore>;

/** A firing that is carried out. */
const Run = z.object({
  firing: count,
  at: instant,
  because: z.array(z.string()),
  led: Led,
  /** It began by a moment or by a time, so `when` being no longer so does not end it. */
  moment: z.boolean(),
  /** `held`: all was done, and it waits for its end. */
  phase: z.enum(["do", "held", "end"]),
  /** Of `do`: the index of the present step. Of `end`: that in `ends`. */
  step: count,
  /** The present step was given out, and its outcome is awaited. */
  out: z.boolean(),
  /** When the present step begins, or began. */
  from: z.optional(instant),
  /** Time went by before the present step, so `only_if` is looked at again. */
  recheck: z.boolean(),
  /**
   * The bridge began anew since a step was given out, and this is when the run was last alive. Its next step waits until the clock is
   * sure, since it may have been off for long.
   */
  interrupted: z.optional(instant),
  /** Of the present step: times that nothing left. */
  tries: count,
  steps: z.array(StepRun),
  /** Steps of an undo that were left out, as somebody changed the value since. They are no failures. */
  kept: z.array(count),
  /** Steps whose device reported before that it is so: they changed nothing. */
  unchanged: z.optional(z.array(count)),
  /** By the number of the step. */
  before: z.record(z.string(), ValuesBefore),
  at_most: z.optional(instant),
  /** As they were before a start, since a clock that is far behind makes them earlier. */
  uncut: z.optional(
    z.object({ from: z.optional(instant), interrupted: z.optional(instant), at_most: z.optional(instant) }),
  ),
  /** Numbers of the steps that end it, in their order. */
  ends: z.array(count),
  /** Why a step of `do` was the last one. */
  why: z.optional(Why),
  /** Why it ends, and since when. */
  ending: z.optional(z.object({ why: Why, at: instant })),
  /** Of one that is over. A person may undo it for a day from then. */
  ended: z.optional(instant),
});
export type Run = z.infer<typeof Run>;

export const AutomationState = z.object({
  version: z.int().check(z.minimum(1)),
  /** When it was last looked at. */
  at: instant,
  /** Of `when`, in its order. `led`: to the value by which it became true. */
  conditions: z.array(z.object({ rule: RuleState, led: Led })),
  /** It was false since the rule was made, resumed or ran: so a step to true counts. */
  armed: z.boolean(),
  /** The last known truth, without holds. */
  level: z.optional(z.boolean()),
  /** Since when nothing is known. */
  gap: z.optional(instant),
  /** The step to true was not seen. Since when it is known. */
  missed: z.optional(instant),
  /** A moment that waits for its turn among the rules of the home. */
  moment: z.optional(z.object({ at: instant, led: Led, because: z.array(z.string()) })),
  /** The number of the last firing. */
  firing: count,
  /** When it ran in the last hour, oldest first; and the last time. */
  begun: z.array(instant),
  /** Firings that were only counted, since it ran last. */
  counted: count,
  /** When `only_if` was not so last. */
  refused: z.optional(instant),
  run: z.optional(Run),
  /** The run before: a late confirmation and a person's "undo" are about it. */
  last: z.optional(Run),
  /** The run that changed something, where those after it did not: a person may still undo it, for a day after its end. */
  changed: z.optional(Run),
  /** Of `at`: the next time, and the days (20261128) of which it was done, the newest last. */
  next: z.optional(z.object({ at: instant, day: z.int() })),
  days: z.array(z.int()),
  /** Nothing begins before it: after a start, or a new connection. */
  quiet_until: instant,
  /** Too many runs: it rests until then. */
  resting: z.optional(instant),
  /** Nothing begins any more. A run that there is comes to its end. */
  stopped: z.optional(Why),
  /** Since the last start nothing said yet that the clock is right. */
  unsure: z.boolean(),
});
export type AutomationState = z.infer<typeof AutomationState>;

/** The world around a rule at the moment of a step. Functions are only called when their answer is needed. */
export type Surroundings = {
  at: number;
  /** The clock is right: the system or the gateway says so. Without it no time is due. */
  sure: boolean;
  presence: Presence;
  /** The home's last beginning of a run and a second: before it none begins. */
  begin_from: number;
  /** The values that fired it, in words. */
  because(): string[];
  /** Values of the readings that a step may change. undefined: not known. */
  before(step: AutomationStep): ValuesBefore | undefined;
  /** Its device reports already what the step asks for. */
  is_so(step: AutomationStep): boolean;
  /** The values before this step could be brought back now: nothing changed them since, and no person has to be asked. */
  has_way_back(step: AutomationStep, before: ValuesBefore): boolean;
  /** Until when limits of the home hold this step back. A time that is not after `at`: it may go. Never asked for ends. */
  held_until(step: AutomationStep): number;
};

/**
 * The command ledger's word on an id, after a start. `none`: it never began, or is void. `begun`: it is not known whether it was sent.
 * `sent`: the state of now tells; the machine asks for it by `look`.
 */
export type LedgerSays = "none" | "begun" | "sent" | Pick<StepEnded, "outcome" | "text">;

export type AutomationInput =
  /** A value of condition `condition`, or the word that there is none. `led`: the rules that led to it, that of the command last. */
  | {
      of: "value";
      condition: number;
      value: (RawValue & { own?: boolean | undefined }) | { missing: true };
      led?: readonly string[] | undefined;
    }
  | { of: "tick" }
  | StepEnded
  /** A step that was told as unconfirmed or unknown was confirmed after all. */
  | { of: "late"; firing: number; step: number; text: string }
  /** The wall clock was set by so many ms. `at` is by the new clock. */
  | { of: "clock_set"; by: number }
  | { of: "restarted"; ledger(id: string): LedgerSays }
  /** A connection is new: nothing begins for a minute. */
  | { of: "connected" }
  /** Nothing begins any more; a run's end is carried out. */
  | { of: "stop"; why: Why }
  | { of: "undo"; firing: number };

export type StepEnded = {
  of: "outcome";
  firing: number;
  step: number;
  outcome: Exclude<StepOutcome, "late">;
  text: string;
  /** Of `not_sent`: the device or the way to it is away, so it is worth another try. */
  again?: boolean;
  /** Of an undo that was not sent: somebody changed the value since, so it stays. This is no failure. */
  kept?: boolean;
  /** The rule is to pause: its device is another one by now, or gone. */
  pause?: Why;
};

/**
 * Work for the caller after the state is on the disk. A `tell` goes to the disk in the same write. `do`, `undo` and `look` are not
 * written: after a start the machine gives them again where they are needed.
 */
export type Effect =
  /** A run has begun: it counts for the home's limits (home-limits.ts). */
  | { of: "begun"; firing: number }
  /** Carry out `action` under `id`. An `outcome` follows. `is_end`: no limit holds it back. */
  | {
      of: "do";
      firing: number;
      step: number;
      id: string;
      action: AutomationStep;
      is_end: boolean;
      led: readonly string[];
    }
  /** Bring the readings back to `before` where they were not changed since. An `outcome` follows. */
  | {
      of: "undo";
      firing: number;
      step: number;
      id: string;
      undoes: AutomationStep;
      before: ValuesBefore | undefined;
      led: readonly string[];
    }
  | Look
  /** `aloud` is false: for the record alone. `critical`: an end of what does harm was not confirmed. */
  | { of: "tell"; run: AutomationRun; aloud: boolean; critical: boolean }
  /** It pauses by itself, or rests until then. `led`: of a loop, with this rule last. */
  | { of: "pause"; why: Why; until?: number; led?: readonly string[] };

/**
 * `now`: look at the present state and answer with an `outcome`. Else: watch for a confirmation until then, answer with `late`. `back`: the
 * step brings these values back, and `action` is what it undoes.
 */
type Look = {
  of: "look";
  firing: number;
  step: number;
  id: string;
  action: AutomationStep;
  until: number | "now";
  back?: ValuesBefore;
};

export type Advanced = { state: AutomationState; effects: Effect[] };

/** @param firing the last number that was ever used with this version: an id of an action never comes twice */
export function initialAutomation(rule: Automation, at: number, firing = 0): AutomationState {
  return {
    version: rule.version,
    at,
    conditions: rule.when.map(() => ({ rule: initialState(at), led: [] })),
    armed: false,
    gap: at,
    firing,
    begun: [],
    counted: 0,
    next: nextMoment(rule, at),
    days: [],
    quiet_until: at,
    unsure: false,
  };
}

/** Reads a state from a file. */
export function readAutomationState(stored: unknown): Parsed<AutomationState> {
  return check(AutomationState, stored);
}

/** Fields that come again by themselves after a start, or begin anew. */
const NOT_KEPT: ReadonlySet<string> = new Set([
  "unsure",
  "at",
  "conditions",
  "level",
  "gap",
  "missed",
  "quiet_until",
  "moment",
  "counted",
  "refused",
]);

/**
 * Tells whether a state has to be on the disk before anything else is done. A disk does not wear for values alone: what is lost with them
 * makes a rule run later, or not, and never again or too early.
 */
export function isToBeKept(before: AutomationState, after: AutomationState): boolean {
  const names = new Set([...Object.keys(before), ...Object.keys(after)]) as Set<keyof AutomationState>;
  const isOther = [...names].some((name) => !NOT_KEPT.has(name) && !isSame(before[name], after[name]));
  return (
    isOther ||
    after.conditions.some(({ rule }, index) => {
      const was = before.conditions[index]?.rule;
      return rule.excused !== was?.excused || (rule.base === undefined) !== (was?.base === undefined);
    })
  );
}

function isSame(a: unknown, b: unknown): boolean {
  return a === b || JSON.stringify(a) === JSON.stringify(b);
}

/** The id of an action for the command ledger: the same firing and step are the same id, also after a restart. */
export function actionId(rule: Pick<Automation, "id" | "version">, firing: number, step: number): string {
  return `${rule.id}:${rule.version}:${firing}:${step}`;
}
