/**
 * Questions about the past of a reading. The bridge answers in words, from what it keeps at home; the gateway passes both on. It knows
 * neither periods nor figures of the past.
 */
import { LANGUAGES } from "../text/languages.ts";
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

/** Characters of a state, or of a part of time, as it is asked. */
export const PAST_WORDS_MAX = 60;
export const PAST_ERROR_MAX = 1_200;

const text = (max: number) => z.string().check(z.maxLength(max));

export const PastQuestion = z.object({
  agent: z.string().check(z.regex(AGENT_ID)),
  /** What the answer calls the device. */
  name: text(100),
  reading: text(100),
  ask: z.enum(PAST_ASKS),
  /** The state that is meant, as a person says it, or a comparison: `open`, `>5`. */
  is: z.optional(text(PAST_WORDS_MAX)),
  /** A part of time by the clock of `zone`: `yesterday`, `24 h`, `2026-11-23 08:00 to 12:00`. Absent: all that is kept for `last`, else seven days. */
  period: z.optional(text(PAST_WORDS_MAX)),
  /** A row for each hour, day, week or month of the zone. */
  by: z.optional(z.enum(PAST_STEPS)),
  /** The same facts of another part of time. */
  compare: z.optional(text(PAST_WORDS_MAX)),
  zone: text(64).check(z.refine(isZone, "expected a time zone, as in Europe/Berlin")),
  /** The answer is one sentence for a person, of `last`, `count` or `duration`, and calls the state so. Absent: it is for a model, in English. */
  sentence: z.optional(z.object({ language: z.enum(LANGUAGES), state: text(PAST_WORDS_MAX) })),
});
export type PastQuestion = z.infer<typeof PastQuestion>;

/** The bridge's answer, or why there is none: an error that names the field. */
export const PastReply = z.union([
  z.object({
    text: text(4_000),
    /** When it became so last (epoch ms), where that was asked and is known. */
    last: z.optional(z.number()),
    /** Some of its words are a publisher's, and read like more than a label. */
    tainted: z.optional(z.boolean()),
    /** The chart that was asked for: a PNG, base64. */
    picture: z.optional(z.string().check(z.maxLength(INLINE_MAX_CHARS), z.regex(/^[A-Za-z0-9+/]+={0,2}$/))),
  }),
  z.object({ error: text(PAST_ERROR_MAX) }),
]);
export type PastReply = z.infer<typeof PastReply>;
