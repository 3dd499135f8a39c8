/** The tool by which a model asks about the past. It names a part of time in words, and never an offset or a UTC time. */
import { z } from "../protocol/parse.ts";
import { PAST_ASKS, PAST_STEPS, PAST_WORDS_MAX } from "../protocol/past.ts";
import type { Tool } from "../tools/contract.ts";
import { withoutEmpty } from "../tools/session-tools.ts";

/** `why`: what the home's own record says of the last change. */
const ASKS = [...PAST_ASKS, "why"] as const;
const words = z.string().check(z.maxLength(PAST_WORDS_MAX));

const Past = z.strictObject({
  agent_id: z.string(),
  reading: z.string().check(z.maxLength(100)),
  ask: z.enum(ASKS),
  is: z.optional(words.check(z.describe("open, >5"))),
  period: z.optional(words.check(z.describe("yesterday, 24 h"))),
  by: z.optional(z.enum(PAST_STEPS)),
  compare: z.optional(words),
});
export type PastInput = z.infer<typeof Past>;

export const PAST_TOOL: Pick<Tool, "name" | "description" | "input" | "prepare"> = {
  name: "past",
  description: "The past of a device's reading.",
  input: Past,
  prepare: withoutEmpty,
};
