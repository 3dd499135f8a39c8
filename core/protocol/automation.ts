/**
 * Rules that act: an automation as the gateway signs it, and what travels between the gateway and the bridge about it. The bridge
 * drafts, evaluates and runs; the gateway asks an owner, signs, stores and tells.
 *
 * The signed text is the exact JSON that the bridge drafted, with approval fields, and `"sig"` as its last field (signing.ts).
 */

import { LANGUAGES } from "../text/languages.ts";
import { DAY_MS, isZone } from "../time/zone.ts";

import { Instant } from "./instant.ts";
import { CallId } from "./names.ts";
import { z } from "./parse.ts";
import { ReadingOptions, TimeWindow, WatchCondition } from "./rules.ts";

/** The word in a bridge's hello by which it says that it runs rules that act. */
export const AUTOMATIONS_FEATURE = "automations";

/** `a-`: a rule that acts. Its conditions have ids of a watch, `w-`. */
export const AUTOMATION_ID = /^a-[0-9a-f]{4,12}$/;

export const AUTOMATIONS_MAX = 100;
export const CONDITIONS_MAX = 4;
export const STEPS_MAX = 6;
/** Of all waits of a rule's steps together, and of `at_most_minutes`. */
export const WAIT_MINUTES_MAX = 720;
const CHAIN_MAX = 8;
const RUNS_AN_HOUR_MAX = 60;

const text = (max: number) => z.string().check(z.minLength(1), z.maxLength(max));
const count = z.int().check(z.minimum(0));
const minutes = (max: number) => z.number().check(z.minimum(0), z.maximum(max));

/** What is expected of the kind of an action; `heat` needs an end and a second tap, `way_in` asks a person at that moment. */
const DANGERS = ["way_in", "way_closes", "heat", "noise"] as const;
export type Danger = (typeof DANGERS)[number];

/** An action of a hosted device, or of a paired agent (`key` is its public key). */
export const AutomationStep = z.object({
  of: z.enum(["hosted", "agent"]),
  /** The device's key, which survives renames. */
  key: text(128),
  /** Its id when the rule was made, for people and for the record. */
  agent: text(64),
  action: text(64),
  parameters: z.record(z.string(), z.unknown()),
  /** The device's allow hash, or the hash of the agent's advert of this action, when the rule was allowed. */
  allow: text(64),
  /** Before it. */
  wait_minutes: z.optional(minutes(WAIT_MINUTES_MAX)),
  danger: z.optional(z.enum(DANGERS)),
});
export type AutomationStep = z.infer<typeof AutomationStep>;

/** A value of a hosted device, or of a paired agent, which says in its presence whether it is so. */
export const AutomationCondition = z.object({
  of: z.enum(["hosted", "agent"]),
  key: text(128),
  agent: text(64),
  /** Its hold, hysteresis and silence are filled in. `repeat` is `each_time`, `tell_own` false. */
  condition: WatchCondition,
});
export type AutomationCondition = z.infer<typeof AutomationCondition>;

/** 0: Monday. */
const WeekDays = z.array(z.int().check(z.minimum(0), z.maximum(6))).check(z.minLength(1), z.maxLength(7));

/** A time of the home's day. `sunrise` and `sunset` are of the home's place, to 0.1 degrees. */
export const AutomationTime = z.object({
  of: z.enum(["clock", "sunrise", "sunset"]),
  /** Of the day where it is of the clock; else after that moment, or before it where it is below 0. */
  minutes: z.int().check(z.minimum(-720), z.maximum(1_439)),
  days: z.optional(WeekDays),
});
export type AutomationTime = z.infer<typeof AutomationTime>;

export const OnlyIf = z.object({
  presence: z.optional(z.enum(["nobody_home", "somebody_home"])),
  between: z.optional(TimeWindow),
  days: z.optional(WeekDays),
});
export type OnlyIf = z.infer<typeof OnlyIf>;

export const Automation = z.object({
  id: z.string().check(z.regex(AUTOMATION_ID)),
  /** Rises with each change of anything but the name and `say`. */
  version: z.int().check(z.minimum(1)),
  name: text(60),
  /** Words of its maker. Absent: it speaks only when something was not confirmed. */
  say: z.optional(text(200)),
  match: z.enum(["all", "any"]),
  /** Empty where `at` is there. */
  when: z.array(AutomationCondition).check(z.maxLength(CONDITIONS_MAX)),
  at: z.optional(AutomationTime),
  only_if: z.optional(OnlyIf),
  do: z.array(AutomationStep).check(z.minLength(1), z.maxLength(STEPS_MAX)),
  /** When `when` is no longer so: nothing, the steps of `end`, or the values before. */
  over: z.enum(["leave", "off", "undo"]),
  /** The steps that switch off again what `do` switched on. */
  end: z.array(AutomationStep).check(z.maxLength(STEPS_MAX)),
  at_most_minutes: z.optional(minutes(WAIT_MINUTES_MAX)),
  /** A step that failed does not stop the others: no two are of one device. */
  go_on: z.boolean(),
  /** Between the beginnings of two runs. */
  pause_ms: z.int().check(z.minimum(60_000), z.maximum(DAY_MS)),
  an_hour: z.int().check(z.minimum(1), z.maximum(RUNS_AN_HOUR_MAX)),
  zone: z.string().check(z.maxLength(64), z.refine(isZone, "expected a time zone, as in Europe/Berlin")),
  /** Its maker's, in which the bridge says values and answers. Absent: English. */
  language: z.optional(z.enum(LANGUAGES)),
  /** Degrees, to 0.1. Where `at` is of the sun. */
  place: z.optional(z.object({ lat: z.number(), lon: z.number() })),
});
export type Automation = z.infer<typeof Automation>;

/** An automation with the owner who allowed it, the time and the proof. This is the text that is signed. */
export const AllowedAutomation = z.object({
  ...Automation.shape,
  home: text(64),
  allowed: z.object({ by: text(200), at: Instant, until: Instant }),
});
export type AllowedAutomation = z.infer<typeof AllowedAutomation>;

// ── what a model or a person asks for ─────────────────────────────────────────────────────────────────

/** The arguments of the tool `automate`, which the bridge reads (core/automations/tool.ts has the tool's schema). */
export const AutomationDraft = z.object({
  id: CallId,
  rule: z.object({ id: z.string().check(z.regex(AUTOMATION_ID)), version: z.int().check(z.minimum(1)) }),
  /** JSON of the tool's input. */
  input: z.string().check(z.maxLength(8_000)),
  zone: z.string().check(z.maxLength(64)),
  language: z.enum(LANGUAGES),
  /** What people call devices that the input names, by id, where they gave a name of their own: the bridge knows the publisher's alone. */
  names: z.optional(z.record(z.string().check(z.maxLength(64)), text(64))),
  /** Values of the paired agents that `when` names, by their ids: only the gateway can ask an agent. */
  readings: z.optional(z.record(z.string().check(z.maxLength(64)), ReadingOptions)),
});
export type AutomationDraft = z.infer<typeof AutomationDraft>;

/** The bridge's answer: the automation as it would be signed and its card, or all that is wrong with the input. */
export const AutomationDrafted = z.union([
  z.object({
    automation: Automation,
    /** The card's lines, in the person's language, from code and devices' labels alone. */
    card: z.array(z.string().check(z.maxLength(500))).check(z.maxLength(20)),
    /** A second tap is needed, and names these. */
    second_tap: z.array(z.string().check(z.maxLength(200))).check(z.maxLength(STEPS_MAX)),
  }),
  z.object({ error: z.string().check(z.maxLength(1_200)) }),
]);
export type AutomationDrafted = z.infer<typeof AutomationDrafted>;

// ── what became of it ─────────────────────────────────────────────────────────────────────────────────

/**
 * `confirmed`: the device reported it. `sent`: such a command is never confirmed. `not_sent`: it certainly did not run.
 * `unconfirmed`: sent, and not confirmed in its time. `unknown`: it may have run. `late`: confirmed after it was told as unconfirmed.
 */
const STEP_OUTCOMES = ["confirmed", "sent", "not_sent", "unconfirmed", "unknown", "late"] as const;
export type StepOutcome = (typeof STEP_OUTCOMES)[number];

export const StepRun = z.object({
  /** From 0; `end` begins after `do`. */
  step: count,
  outcome: z.enum(STEP_OUTCOMES),
  /** The device's words, or why not. */
  text: z.string().check(z.maxLength(500)),
  at: Instant,
});
export type StepRun = z.infer<typeof StepRun>;

const RUN_STATES = ["running", "done", "stopped", "not_run", "undone"] as const;

/** A firing. `rule`, `version` and `firing` name it; `firing:step` with them names an action for the command ledger. */
export const AutomationRun = z.object({
  rule: z.string().check(z.regex(AUTOMATION_ID)),
  version: z.int().check(z.minimum(1)),
  firing: z.int().check(z.minimum(1)),
  state: z.enum(RUN_STATES),
  at: Instant,
  ended: z.optional(Instant),
  /** The values that fired it, in the language of the rule's maker: `Front door, contact: open`. */
  because: z.array(z.string().check(z.maxLength(200))).check(z.maxLength(CONDITIONS_MAX)),
  steps: z.array(StepRun).check(z.maxLength(STEPS_MAX * 2)),
  /** Why it did not run, or stopped. */
  why: z.optional(z.string().check(z.maxLength(300))),
  /** It can be undone now: it ended within a day, values before are known, nothing changed since, and no person has to be asked for it. */
  undo: z.optional(z.boolean()),
});
export type AutomationRun = z.infer<typeof AutomationRun>;

/** Something to be told, with a number that rises. `run` or `paused`, never both. */
export const AutomationNews = z.object({
  n: z.int().check(z.minimum(1)),
  rule: z.string().check(z.regex(AUTOMATION_ID)),
  version: z.int().check(z.minimum(1)),
  run: z.optional(AutomationRun),
  /** The rule stopped by itself: a changed or removed device, a loop, too many runs. In words. */
  paused: z.optional(z.string().check(z.maxLength(300))),
  /** Of a loop: the names of the rules that made each other run, in their order; the last one is this rule's. */
  chain: z.optional(z.array(text(60)).check(z.maxLength(CHAIN_MAX))),
  /** Runs since the last news of this rule that were all confirmed and had nothing to say. */
  silent: z.optional(count),
  /** An end of something dangerous was not confirmed. It is told again until a person answers. */
  critical: z.optional(z.boolean()),
});
export type AutomationNews = z.infer<typeof AutomationNews>;

/** A rule as the bridge has it, for the console and for "list". */
export const AutomationStatus = z.object({
  rule: z.string().check(z.regex(AUTOMATION_ID)),
  version: z.int().check(z.minimum(1)),
  /** `armed`: its step to true counts. `waiting`: it ran, or was true from the start, and has to become false first. */
  state: z.enum(["armed", "waiting", "unknown", "running", "resting", "stopped"]),
  /** The present values, in the language of the rule's maker; of a time of the sun, that there is none these days. */
  now: z.array(z.string().check(z.maxLength(200))).check(z.maxLength(CONDITIONS_MAX)),
  runs: z.array(AutomationRun).check(z.maxLength(20)),
  /** The times at which it runs next, of `at`. */
  next: z.optional(Instant),
  /** The time at which a rule that waits is armed, if its values stay false. */
  over_at: z.optional(Instant),
});
export type AutomationStatus = z.infer<typeof AutomationStatus>;

/** Who is at home, as the bridge knows it: each source that an owner named, and what the home makes of them. */
export const HomePresence = z.object({
  home: z.enum(["somebody", "nobody", "unknown"]),
  sources: z
    .array(z.object({ name: z.string().check(z.maxLength(60)), says: z.enum(["home", "away", "unknown"]) }))
    .check(z.maxLength(60)),
});
export type HomePresence = z.infer<typeof HomePresence>;

/** A person's order about a rule at the bridge. */
export const AutomationOrder = z.discriminatedUnion("do", [
  z.object({
    do: z.literal("status"),
    rules: z.array(z.string().check(z.regex(AUTOMATION_ID))).check(z.maxLength(AUTOMATIONS_MAX)),
    language: z.enum(LANGUAGES),
  }),
  z.object({
    do: z.literal("undo"),
    rule: z.string().check(z.regex(AUTOMATION_ID)),
    firing: z.int().check(z.minimum(1)),
    by: text(200),
    language: z.enum(LANGUAGES),
  }),
]);
export type AutomationOrder = z.infer<typeof AutomationOrder>;

export const AutomationOrdered = z.union([
  z.object({
    status: z.array(AutomationStatus).check(z.maxLength(AUTOMATIONS_MAX)),
    /** Absent: nothing at home is named that knows it. */
    presence: z.optional(HomePresence),
  }),
  /** Of `undo`: what was done, in words, and whether all of it was confirmed. */
  z.object({ text: z.string().check(z.maxLength(1_000)), confirmed: z.boolean() }),
  z.object({ error: z.string().check(z.maxLength(500)) }),
]);
export type AutomationOrdered = z.infer<typeof AutomationOrdered>;

/**
 * A step that the gateway carries out, as an ordinary call with this id and the rule as its caller: an action of a paired agent, and what
 * asks a person at that moment. The same id is the same call.
 */
export const ActRequest = z.object({
  id: CallId,
  rule: z.string().check(z.regex(AUTOMATION_ID)),
  version: z.int().check(z.minimum(1)),
  firing: z.int().check(z.minimum(1)),
  /** Of `do` and then `end`, from 0. The gateway takes device, action and parameters from its own row. */
  step: count,
});
export type ActRequest = z.infer<typeof ActRequest>;

export const ActOutcome = z.object({
  outcome: z.enum(STEP_OUTCOMES),
  text: z.string().check(z.maxLength(500)),
});
export type ActOutcome = z.infer<typeof ActOutcome>;

/** A person's last word, "I am away" or "I am back", at a time in epoch ms. */
export const SaidPresence = z.object({ person: text(200), name: text(60), away: z.boolean(), at: Instant });
export type SaidPresence = z.infer<typeof SaidPresence>;
