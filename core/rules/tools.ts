/** The tools by which a model makes, lists and ends rules. A model fills fields; it never writes cron or a UTC time. */

import { check, type Parsed, z } from "../protocol/parse.ts";
import { CheckSeconds, CONDITIONS, REPEATS, RULE_ID } from "../protocol/rules.ts";
import type { Tool } from "../tools/contract.ts";
import { withoutEmpty } from "../tools/session-tools.ts";
import { REMINDER_TEXT_MAX } from "./reminder.ts";
import { isMissing } from "./value.ts";
import {
  FOR_MINUTES_MAX,
  PRESENCE,
  RULE_NAME_MAX,
  SAY_MAX,
  SEVERITIES,
  THEN_MINUTES_MAX,
} from "./watch-rule.ts";

/** A year. */
const IN_MINUTES_MAX = 525_600;
/** A week. */
const SNOOZE_MINUTES_MAX = 10_080;

const name = z.string().check(z.maxLength(RULE_NAME_MAX));
/** A pattern in the schema would be in every model call. */
const matching = (pattern: RegExp, error: string) =>
  z.string().check(z.refine((text) => pattern.test(text), error));
const id = matching(RULE_ID, "expected a rule's id, as in w-7f2c");

/** Bounds in the schema would be in every model call, too. */
const checkSeconds = z
  .int()
  .check(z.refine((seconds) => check(CheckSeconds, seconds).ok, "expected 10 to 3600 seconds"));

const Watch = z.strictObject({
  name: name.check(z.describe("what the person will read, e.g. Freezer too warm")),
  agent_id: z.string(),
  reading: z.string().check(z.describe("an action that only reads, a state of the device, or presence")),
  field: z.optional(z.string().check(z.describe("which value, of several"))),
  is: z.enum(CONDITIONS),
  value: z.optional(z.union([z.number(), z.string(), z.boolean()])),
  for_minutes: z.optional(z.number().check(z.minimum(0), z.maximum(FOR_MINUTES_MAX))),
  check_seconds: z.optional(checkSeconds),
  repeat: z.optional(z.enum(REPEATS)),
  severity: z.optional(z.enum(SEVERITIES)),
  only_between: z.optional(
    matching(/^\d\d:\d\d-\d\d:\d\d$/, "expected HH:MM-HH:MM, as in 22:00-07:00").check(
      z.describe("HH:MM-HH:MM"),
    ),
  ),
  say: z.optional(z.string().check(z.maxLength(SAY_MAX))),
  to: z.optional(
    z.string().check(z.describe("owners, or as telegram:family; leave out for this conversation")),
  ),
  /** The second recipient, who is told where nobody answers within `then_minutes`. */
  then_to: z.optional(z.string()),
  then_minutes: z.optional(z.number()),
});
export type WatchInput = z.infer<typeof Watch>;

/** In the order in which a person says them. */
const DAYS = ["mo", "tu", "we", "th", "fr", "sa", "su"] as const;
export const EVERY = ["day", "weekday", "weekend", "week", "month", "hour"] as const;

const Remind = z.strictObject({
  text: z.string().check(z.maxLength(REMINDER_TEXT_MAX)),
  in_minutes: z.optional(z.number().check(z.minimum(1), z.maximum(IN_MINUTES_MAX))),
  at_date: z.optional(
    matching(/^\d{4}-\d\d-\d\d \d\d:\d\d$/, "expected YYYY-MM-DD HH:MM, as in 2026-11-30 08:00").check(
      z.describe("YYYY-MM-DD HH:MM in the home's time"),
    ),
  ),
  every: z.optional(z.enum(EVERY)),
  at: z.optional(z.string().check(z.regex(/^\d\d:\d\d$/, "expected HH:MM, as in 08:00"))),
  days: z.optional(z.array(z.enum(DAYS))),
  do: z.optional(
    z.enum(["say", "brief"]).check(z.describe("brief: then read devices and write what the text asks for")),
  ),
  /** As that of `watch`. */
  to: z.optional(z.string()),
});
export type RemindInput = z.infer<typeof Remind>;

const Rules = z.strictObject({
  do: z.enum(["list", "pause", "resume", "cancel", "history"]),
  /** Of a list: these alone. A briefing is a reminder too. */
  of: z.optional(matching(/^(?:watch|reminder|briefing)$/, "expected watch, reminder or briefing")),
  name: z.optional(name),
  id: z.optional(id),
});
export type RulesInput = z.infer<typeof Rules>;

const Ack = z.strictObject({
  id: z.optional(id.check(z.describe("leave out for all that are firing here"))),
  snooze_minutes: z.optional(z.number().check(z.minimum(1), z.maximum(SNOOZE_MINUTES_MAX))),
});
export type AckInput = z.infer<typeof Ack>;

export type RuleToolName = "ack" | "remind" | "rules" | "watch";
export type RuleTool = Pick<Tool, "name" | "description" | "input" | "prepare">;

/** Sorted by name. `parseArguments` reads their arguments. */
export const RULE_TOOLS: Record<RuleToolName, RuleTool> = {
  ack: {
    name: "ack",
    description: "Acknowledge what fires, or snooze it.",
    input: Ack,
    prepare: withoutEmpty,
  },
  remind: {
    name: "remind",
    description: "Remind the person, once or again and again. Give one of in_minutes, at_date, every.",
    input: Remind,
    prepare: withoutEmpty,
  },
  rules: {
    name: "rules",
    description: "List, pause, resume or cancel watches and reminders, or show their history.",
    input: Rules,
    prepare: withoutEmpty,
  },
  watch: {
    name: "watch",
    description: "Tell the person when a device's reading is so. Nothing else has to run.",
    input: Watch,
    prepare: withoutEmpty,
  },
};

/** Checks what belongs together in a `watch`. The error names the field and what would be right. */
export function checkWatch(input: WatchInput): Parsed<WatchInput> {
  const { is, value, reading, for_minutes, then_to, then_minutes, repeat } = input;
  const wrong = (error: string): Parsed<WatchInput> => ({ ok: false, error });
  const comparesNumbers = is === "above" || is === "below";
  const isPresence = is === "offline" || is === "online";
  if (comparesNumbers && value === undefined)
    return wrong(`value: '${is}' needs a number to compare with, as in -15`);
  if ((is === "equal" || is === "not_equal") && value === undefined)
    return wrong(`value: '${is}' needs what to compare with, as in open`);
  if ((is === "changes" || isPresence) && value !== undefined)
    return wrong(`value: leave it out with '${is}'`);
  if (typeof value === "string" && isMissing(value))
    return wrong(`value: '${value}' says that there is no value; use is: offline, with reading: ${PRESENCE}`);
  if (isPresence && reading !== PRESENCE)
    return wrong(`reading: '${is}' is about ${PRESENCE}, so write that`);
  if (!isPresence && reading === PRESENCE) return wrong(`is: ${PRESENCE} is offline or online, not '${is}'`);
  if ((is === "changes" || is === "happens") && (for_minutes ?? 0) > 0)
    return wrong(`for_minutes: leave it out with '${is}', which is a moment`);
  if (then_minutes !== undefined && !(then_minutes >= 1 && then_minutes <= THEN_MINUTES_MAX))
    return wrong(`then_minutes: expected 1 to ${THEN_MINUTES_MAX}`);
  if (then_minutes !== undefined && then_to === undefined)
    return wrong("then_minutes: it needs 'then_to', who is told then");
  if (then_to !== undefined && repeat === "once")
    return wrong("then_to: leave it out with repeat: once, which ends with the first message");
  return { ok: true, value: input };
}

/** Checks that `rules` names what it needs. */
export function checkRules(input: RulesInput): Parsed<RulesInput> {
  if (input.of !== undefined && input.do !== "list")
    return { ok: false, error: `of: leave it out with '${input.do}', which is of one rule` };
  if (input.do !== "list" && input.id === undefined && input.name === undefined)
    return { ok: false, error: `name: '${input.do}' needs the name of a rule, or its id` };
  return { ok: true, value: input };
}
