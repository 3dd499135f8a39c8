/**
 * Rules on the wire. A watch's condition goes to the place where its reading is (agent, bridge, Home); it holds no names
 * of people. The changes of its state come back.
 */
import { DAY_MS, isZone } from "../time/zone.ts";
import { Instant } from "./instant.ts";
import { z } from "./parse.ts";

/** Four characters, or more where those are taken. `w-`: a watch; `r-`: a reminder. */
export const RULE_ID = /^[wr]-[0-9a-f]{4,12}$/;

export const CONDITIONS = [
  "above",
  "below",
  "equal",
  "not_equal",
  "changes",
  "offline",
  "online",
  "happens",
] as const;

export const REPEATS = ["once", "each_time", "until_ack"] as const;

export const VALUE_TYPES = ["number", "boolean", "text"] as const;
/** A text of a device may be long; a rule keeps and compares this much. */
export const VALUE_MAX_CHARS = 200;
/** A value that a rule keeps or compares with. */
export const RuleValue = z.union([z.number(), z.string().check(z.maxLength(VALUE_MAX_CHARS)), z.boolean()]);

const MINUTES_A_DAY = 1_440;
const minuteOfDay = z.int().check(z.minimum(0), z.maximum(MINUTES_A_DAY - 1));

const ZoneName = z
  .string()
  .check(z.maxLength(64), z.refine(isZone, "expected a time zone, as in Europe/Berlin"));

/** From the minute `from` up to, and without, the minute `to`. It goes over midnight where `from` is the later one. */
export const TimeWindow = z.object({ from: minuteOfDay, to: minuteOfDay, zone: ZoneName });
export type TimeWindow = z.infer<typeof TimeWindow>;

/** Seconds between two looks of an agent at a reading. */
export const CheckSeconds = z.int().check(z.minimum(10), z.maximum(3_600));

const ms = (max: number) => z.int().check(z.minimum(0), z.maximum(max));
const readingName = z.string().check(z.minLength(1), z.maxLength(128));

/** The part of a watch that is evaluated. */
export const WatchCondition = z.object({
  id: z.string().check(z.regex(RULE_ID)),
  /** Rises with each change of the rule, so that both sides know who has which. */
  version: z.int().check(z.minimum(1)),
  /** An action that only reads, a state of the device, or `presence`. */
  reading: readingName,
  /** Which value of the reading, where it has several. */
  field: z.optional(readingName),
  /** The type that values are read in. */
  type: z.enum(VALUE_TYPES),
  is: z.enum(CONDITIONS),
  /** The value that a reading is compared with. Of `happens`: the kind of event; absent = any. */
  value: z.optional(RuleValue),
  /** The unit that the rule was made with. A value in another one counts as unknown. */
  unit: z.optional(z.string().check(z.maxLength(32))),
  /** The distance that a number has to go back before the condition is over; of `changes`, the distance that counts. */
  hysteresis: z.number().check(z.minimum(0)),
  /** The time for which the condition has to be true before the rule fires, and false before it is over. */
  hold_ms: ms(DAY_MS),
  clear_hold_ms: ms(DAY_MS),
  /** Silence of the device for so long counts as unknown. Absent: it speaks only when something changes. */
  stale_ms: z.optional(ms(7 * DAY_MS)),
  /** Outside it, nothing fires. */
  only_between: z.optional(TimeWindow),
  repeat: z.enum(REPEATS),
  /** It also fires on what our own command did. */
  tell_own: z.boolean(),
});
export type WatchCondition = z.infer<typeof WatchCondition>;

/** What an agent can watch, as its answer to `readings` lists it. */
export const ReadingOptions = z.array(
  z.looseObject({
    name: readingName,
    field: z.optional(readingName),
    type: z.enum(VALUE_TYPES),
    unit: z.optional(z.string().check(z.maxLength(32))),
    event: z.optional(z.literal(true)),
    now: z.optional(z.looseObject({ value: z.unknown(), at: z.number() })),
    every_ms: z.optional(z.number()),
  }),
);

/** What an agent says of the conditions of rules that act: each that is known, by its id. */
export const Truths = z.record(
  z.string().check(z.maxLength(32)),
  z.looseObject({ version: z.int(), so: z.boolean(), value: z.optional(RuleValue) }),
);
export type Truths = z.infer<typeof Truths>;

/** Moments that one change stands for: 200 in a second, and more. */
export const COUNT_MAX = 100_000;

const count = z.int().check(z.minimum(0));

/** A change of a rule's state: the only thing that leaves the place of evaluation. */
export const RuleChange = z.object({
  rule: z.string().check(z.regex(RULE_ID)),
  version: z.int().check(z.minimum(1)),
  seq: z.int().check(z.minimum(1)),
  state: z.enum(["idle", "firing", "unknown"]),
  /** Names the firing that it is about: `seq` of the change that told it. 0: it never fired. */
  occurrence: count,
  /** Epoch ms. */
  at: Instant,
  /**
   * Of `firing`: since when it is true. Of `idle`: since when it was true; absent where no firing ended. Of `unknown`: the
   * time of the last value; absent where there never was one.
   */
  since: z.optional(Instant),
  /** Of `idle`: since when it is false. */
  until: z.optional(Instant),
  value: z.optional(RuleValue),
  unit: z.optional(z.string().check(z.maxLength(32))),
  /** Of moments: how many this change stands for. */
  count: z.optional(z.int().check(z.minimum(1), z.maximum(COUNT_MAX))),
  /** `window`: it is not watched at this time of the day, and nothing is known of its end. */
  why: z.optional(z.literal("window")),
});
export type RuleChange = z.infer<typeof RuleChange>;

/** The part of a rule's state that Home knows, from the changes that it got. */
export const KnownState = z.object({
  /** Changes so far. It goes on from Home's count, so that no two changes of a rule have the same. */
  seq: count,
  /** The change with which it last fired; 0: never. It names the firing. */
  occurrence: count,
  /** The firing that is not over. `since`: when the condition became true. */
  open: z.optional(z.object({ at: z.number(), since: z.number() })),
});
export type KnownState = z.infer<typeof KnownState>;
