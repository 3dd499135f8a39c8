/** The times that a question about the past means by its words. */
import { type Parsed, wrong } from "../protocol/parse.ts";
import type { PastQuestion } from "../protocol/past-question.ts";
import { readPeriod } from "./period.ts";
import type { Period } from "./pieces.ts";

export type PastTimes = Period & { compare?: Period };

/**
 * @param now epoch ms
 * @param since when values are kept (epoch ms); null: nothing is. `last` looks back so far
 * @returns an error names the field
 */
export function timesOf(
  { ask, period, by, compare, zone }: Pick<PastQuestion, "ask" | "period" | "by" | "compare" | "zone">,
  now: number,
  since: number | null,
): Parsed<PastTimes> {
  const isWhole = ask === "last" && period === undefined && since !== null && since < now;
  const asked: Parsed<Period> = isWhole
    ? { ok: true, value: { from: since, to: now } }
    : readPeriod(period, zone, now);
  if (!asked.ok) return asked;
  const isOne = ask === "last" || ask === "list" || ask === "chart";
  if (by !== undefined && isOne) return wrong(`by: leave it out with '${ask}'`);
  if (compare === undefined) return asked;
  if (isOne) return wrong(`compare: leave it out with '${ask}'`);
  const other = readPeriod(compare, zone, now);
  if (!other.ok) return wrong(other.error.replace(/^period/, "compare"));
  return { ok: true, value: { ...asked.value, compare: other.value } };
}
