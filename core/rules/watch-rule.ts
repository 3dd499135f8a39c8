/**
 * A watch by value: a condition on a reading, and how people are told of it. The condition alone goes to the place where the
 * reading is (agent, bridge, Home); it holds no names of people.
 */

import { z } from "../protocol/parse.ts";
import { CheckSeconds, type CONDITIONS, WatchCondition } from "../protocol/rules.ts";
import { windowMs } from "../test-clock.ts";
import { LANGUAGES } from "../text/languages.ts";
import { DAY_MS, MINUTE_MS } from "../time/zone.ts";

export type Condition = (typeof CONDITIONS)[number];

export const SEVERITIES = ["info", "warning", "critical"] as const;
export type Severity = (typeof SEVERITIES)[number];

/** The reading by which a device's presence is watched. */
export const PRESENCE = "presence";

export const RULE_NAME_MAX = 60;
export const SAY_MAX = 200;
export const FOR_MINUTES_MAX = 1_440;
/** A day. */
export const THEN_MINUTES_MAX = 1_440;

const ms = (max: number) => z.int().check(z.minimum(0), z.maximum(max));
const deviceKey = z.string().check(z.minLength(1), z.maxLength(128));

/** Whose value it is. Keys survive renames: an agent's public key, or the hash of a hosted device's identifiers. */
export const WatchSource = z.discriminatedUnion("of", [
  z.object({ of: z.literal("agent"), key: deviceKey }),
  z.object({ of: z.literal("hosted"), key: deviceKey }),
  z.object({ of: z.literal("presence"), device: z.enum(["agent", "hosted"]), key: deviceKey }),
  z.object({ of: z.literal("bridge") }),
]);
export type WatchSource = z.infer<typeof WatchSource>;

export const WatchRule = z.object({
  ...WatchCondition.shape,
  /** The person's name for it. */
  name: z.string().check(z.minLength(1), z.maxLength(RULE_NAME_MAX)),
  source: WatchSource,
  severity: z.enum(SEVERITIES),
  /** Of `each_time`: at most one message about firings in this time. */
  cooldown_ms: ms(7 * DAY_MS),
  /** Words of its maker that are added to a message. */
  say: z.optional(z.string().check(z.maxLength(SAY_MAX))),
  /** It is said when there is no value any more. */
  tell_stale: z.boolean(),
  /** A second recipient, who is told after this time without an acknowledgement. */
  then_to: z.optional(
    z.object({ to: z.string().check(z.minLength(1), z.maxLength(200)), after_ms: ms(DAY_MS) }),
  ),
  /** Absent: an agent looks each minute, and the bridge and Home need not look. */
  check_s: z.optional(CheckSeconds),
  /** A boolean's words: when it is true, and when it is false. */
  words: z.optional(
    z.object({ yes: z.string().check(z.maxLength(40)), no: z.string().check(z.maxLength(40)) }),
  ),
  /** In which it speaks; absent: English. */
  language: z.optional(z.enum(LANGUAGES)),
});
export type WatchRule = z.infer<typeof WatchRule>;

/** The part for the place where the reading is. */
export function conditionOf(rule: WatchRule): WatchCondition {
  const {
    name: _,
    source,
    severity,
    cooldown_ms,
    say,
    tell_stale,
    then_to,
    check_s,
    words,
    language,
    ...condition
  } = rule;
  return condition;
}

/** Events and changes are moments: they are never over, and have no hold. */
export function isMomentary({ is }: Pick<WatchCondition, "is">): boolean {
  return is === "happens" || is === "changes";
}

/** The shortest time after which a condition is over. It makes one firing of what flaps. */
export const SETTLES_MS = windowMs(MINUTE_MS, 2_000);
