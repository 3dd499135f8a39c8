/** The tool by which a model asks about the past. It names a part of time in words, and never an offset or a UTC time. */
import { type Parsed, wrong, z } from "../protocol/parse.ts";
import { PAST_ASKS, PAST_STEPS, type PastAsk, type PastQuestion } from "../protocol/past.ts";
import type { Tool } from "../tools/contract.ts";
import { withoutEmpty } from "../tools/session-tools.ts";
import { readPeriod } from "./period.ts";

const WORDS_MAX = 60;
/** `why`: what the home's own record says of the last change. */
const ASKS = [...PAST_ASKS, "why"] as const;
const words = z.string().check(z.maxLength(WORDS_MAX));

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

/** `last` looks back over all that is kept; the bridge begins where its files do. */
const LAST_MS = 400 * 86_400_000;

/** @param now epoch ms @returns the question for the bridge; the error names the field */
export function questionOf(
  { agent_id: agent, reading, ask: asks, is, period, by, compare }: PastInput,
  zone: string,
  now: number,
): Parsed<PastQuestion> {
  const ask: PastAsk = asks === "why" ? "last" : asks;
  const isWhole = ask === "last" && period === undefined;
  const asked = isWhole
    ? ({ ok: true, value: { from: now - LAST_MS, to: now } } as const)
    : readPeriod(period, zone, now);
  if (!asked.ok) return asked;
  const other = compare === undefined ? undefined : readPeriod(compare, zone, now);
  if (other && !other.ok) return wrong(other.error.replace(/^period/, "compare"));
  const isOne = ask === "last" || ask === "list" || ask === "chart";
  if (by !== undefined && isOne) return wrong(`by: leave it out with '${asks}'`);
  if (other && isOne) return wrong(`compare: leave it out with '${asks}'`);
  return {
    ok: true,
    value: {
      ...{ agent, reading, ask, ...asked.value, zone },
      ...(is !== undefined && { is }),
      ...(by !== undefined && { by }),
      ...(other && { compare: other.value }),
    },
  };
}
