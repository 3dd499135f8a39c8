/** Questions about the past of a reading, which the bridge answers from what it keeps at home. The words are made by the gateway. */
import { isZone } from "../time/zone.ts";
import { INLINE_MAX_CHARS } from "./media.ts";
import { AGENT_ID } from "./names.ts";
import { z } from "./parse.ts";

/** The word by which a bridge says that it keeps values, and answers questions about them. */
export const HISTORY_FEATURE = "history";

export const PAST_ASKS = ["last", "list", "count", "duration", "min_max", "mean", "change", "chart"] as const;
export type PastAsk = (typeof PAST_ASKS)[number];

export const PAST_STEPS = ["hour", "day", "week", "month"] as const;
export type PastStep = (typeof PAST_STEPS)[number];

/** Rows of an answer; more are left out, and it says how many. */
export const PAST_ROWS_MAX = 12;
const GAPS_MAX = 5;
/** Readings that an answer names where the one that was asked for is not kept. */
const NAMED_MAX = 40;

const text = (max: number) => z.string().check(z.maxLength(max));
/** Epoch ms. */
const at = z.number();
const Span = z.object({ from: at, to: at });
export type PastSpan = z.infer<typeof Span>;

/** What is asked of a reading in one part of time. */
export const PastQuestion = z.object({
  agent: z.string().check(z.regex(AGENT_ID)),
  reading: text(100),
  ask: z.enum(PAST_ASKS),
  /** The state that is meant, as a person says it, or a comparison: `open`, `>5`. */
  is: z.optional(text(60)),
  from: at,
  to: at,
  /** A row for each hour, day, week or month of the zone. */
  by: z.optional(z.enum(PAST_STEPS)),
  /** The same facts of another part of time. */
  compare: z.optional(Span),
  zone: text(64).check(z.refine(isZone, "expected a time zone, as in Europe/Berlin")),
});
export type PastQuestion = z.infer<typeof PastQuestion>;

const value = z.union([z.number(), z.boolean(), text(60)]);
const Moment = z.object({ at, value });
export type PastMoment = z.infer<typeof Moment>;

/** What was found in a part of time; each question has some of them. */
export const PastFacts = z.object({
  /** Of so many ms the value is known. */
  known_ms: z.number(),
  count: z.optional(z.int()),
  /** Ms in which it was so. */
  ms: z.optional(z.number()),
  longest: z.optional(Span),
  /** `to`: null while it is so still, or its end was not seen. */
  last: z.optional(z.object({ at, value, to: z.nullable(at), is_over: z.boolean() })),
  min: z.optional(Moment),
  max: z.optional(Moment),
  mean: z.optional(z.number()),
  first: z.optional(Moment),
  end: z.optional(Moment),
  change: z.optional(z.number()),
  /** The newest ones, in their order. */
  list: z.optional(z.array(Moment).check(z.maxLength(PAST_ROWS_MAX))),
  /** How many older ones are left out. */
  more: z.optional(z.int()),
});
export type PastFacts = z.infer<typeof PastFacts>;

/** Why nothing is known of any reading: the bridge was off, its clock was set, its disk took nothing, or the day is not kept any more. */
export const GAP_CAUSES = ["bridge", "clock", "disk", "gone"] as const;
export type GapCause = (typeof GAP_CAUSES)[number];

/** `none`: no value had come by then. `away`: the device, the value, or what brings it was not available. */
export const UNKNOWN_CAUSES = [...GAP_CAUSES, "away", "none"] as const;
export type UnknownCause = (typeof UNKNOWN_CAUSES)[number];

export const PastAnswer = z.object({
  reading: text(100),
  unit: z.optional(text(32)),
  class: z.optional(text(64)),
  kind: text(32),
  /** The state that was asked for, in the words of the reading. */
  is: z.optional(text(80)),
  from: at,
  to: at,
  facts: PastFacts,
  by: z.optional(z.array(z.object({ from: at, to: at, facts: PastFacts })).check(z.maxLength(PAST_ROWS_MAX))),
  /** Earlier rows that are left out. */
  by_more: z.optional(z.int()),
  compare: z.optional(z.object({ from: at, to: at, facts: PastFacts })),
  /** The longest parts of time of which nothing is known, in their order, and how long all of them are. */
  unknown: z.array(z.object({ from: at, to: at, why: z.enum(UNKNOWN_CAUSES) })).check(z.maxLength(GAPS_MAX)),
  unknown_ms: z.number(),
  /** Since when values are kept; null: nothing is. */
  since: z.nullable(at),
  /** Values came faster than they are kept. */
  coarse: z.optional(z.boolean()),
  /** The chart that was asked for: a PNG, base64. */
  picture: z.optional(z.string().check(z.maxLength(INLINE_MAX_CHARS), z.regex(/^[A-Za-z0-9+/]+={0,2}$/))),
});
export type PastAnswer = z.infer<typeof PastAnswer>;
export const PAST_GAPS_MAX = GAPS_MAX;

/** The bridge's answer, or why there is none: an error that names the field. */
export const PastReply = z.union([
  z.object({ answer: PastAnswer }),
  z.object({
    error: text(400),
    /** Readings of the device that are kept. */
    readings: z.optional(z.array(text(100)).check(z.maxLength(NAMED_MAX))),
  }),
]);
export type PastReply = z.infer<typeof PastReply>;
export const PAST_NAMED_MAX = NAMED_MAX;
