/** A question about the past of a reading. The bridge alone reads it: the Worker has its type. */
import { LANGUAGES } from "../text/languages.ts";
import { isZone } from "../time/zone.ts";
import { agentId } from "./frame-fields.ts";
import { z } from "./parse.ts";
import { PAST_ASKS, PAST_STEPS, PAST_WORDS_MAX } from "./past.ts";

const text = (max: number) => z.string().check(z.maxLength(max));

export const PastQuestion = z.object({
  agent: agentId,
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
  /** A `chart` is answered by its line, and not by a picture. */
  line: z.optional(z.literal(true)),
  zone: text(64).check(z.refine(isZone, "expected a time zone, as in Europe/Berlin")),
  /** The answer is one sentence for a person, of `last`, `count` or `duration`, and calls the state so. Absent: it is for a model, in English. */
  sentence: z.optional(z.object({ language: z.enum(LANGUAGES), state: text(PAST_WORDS_MAX) })),
});
export type PastQuestion = z.infer<typeof PastQuestion>;
