/** A rule of time: it says a text, or has a model write one, at times by the home's clock. */

import { z } from "../protocol/parse.ts";
import { RULE_ID } from "../protocol/rules.ts";
import { LANGUAGES } from "../text/languages.ts";
import { Schedule } from "./schedule.ts";

export const REMINDER_TEXT_MAX = 500;

export const Reminder = z.object({
  id: z.string().check(z.regex(RULE_ID)),
  version: z.int().check(z.minimum(1)),
  text: z.string().check(z.minLength(1), z.maxLength(REMINDER_TEXT_MAX)),
  schedule: Schedule,
  /** `brief`: a model reads devices and writes what the text asks for. */
  do: z.enum(["say", "brief"]),
  /** In which it speaks; absent: English. */
  language: z.optional(z.enum(LANGUAGES)),
});
export type Reminder = z.infer<typeof Reminder>;
