/**
 * Questions about the past of a reading (past-question.ts), and answers. The bridge answers in words, from what it keeps at home; the
 * gateway passes both on, and knows neither periods nor figures of the past.
 */
import { INLINE_MAX_CHARS } from "./media.ts";
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

const LINE_MAX = 1_000;

/** The past of a reading: each value holds from its time (epoch ms) until the next one, the last one until `to`. null: not known. */
export const PastLine = z.object({
  from: z.number(),
  to: z.number(),
  at: z.array(z.number()).check(z.maxLength(LINE_MAX)),
  values: z
    .array(z.nullable(z.union([z.number(), z.boolean(), text(PAST_WORDS_MAX)])))
    .check(z.maxLength(LINE_MAX)),
});
export type PastLine = z.infer<typeof PastLine>;

/** The bridge's answer, or why there is none: an error that names the field. */
export const PastReply = z.union([
  z.object({
    text: text(4_000),
    /** When it became so last (epoch ms), where that was asked and is known. */
    last: z.optional(z.number()),
    /** Some of its words are a publisher's, and read like more than a label. */
    tainted: z.optional(z.boolean()),
    /** In place of a picture, where it was asked for. Events have none. */
    line: z.optional(PastLine),
    /** The chart that was asked for: a PNG, base64. */
    picture: z.optional(z.string().check(z.maxLength(INLINE_MAX_CHARS), z.regex(/^[A-Za-z0-9+/]+={0,2}$/))),
  }),
  z.object({ error: text(PAST_ERROR_MAX) }),
]);
export type PastReply = z.infer<typeof PastReply>;
