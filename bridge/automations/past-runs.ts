/** How often a rule would have run in the last seven days, by the values that the bridge has kept. */
import type { CardDryRun } from "@edgecall/core/automations/card.ts";
import { dryRun } from "@edgecall/core/automations/dry-run.ts";
import type { Automation } from "@edgecall/core/protocol/automation.ts";
import { DAY_MS } from "@edgecall/core/time/zone.ts";
import type { KeptPast } from "../history/bridge-history.ts";

const DAYS = 7;

/** Values that were kept of a reading, by its device's key; undefined: there are none. */
export type PastOf = (
  key: string,
  reading: string,
  from: number,
  to: number,
) => Promise<KeptPast | undefined>;

/** @param now epoch ms @returns null: of a condition nothing is kept */
export async function pastRuns(rule: Automation, pastOf: PastOf, now: number): Promise<CardDryRun | null> {
  const from = now - DAYS * DAY_MS;
  const kept: KeptPast[] = [];
  for (const { key, condition } of rule.when) {
    const one = await pastOf(key, condition.reading, from, now);
    if (!one) return null;
    kept.push(one);
  }
  const gaps = kept.flatMap((one) => one.gaps);
  const samples = kept.map((one) => one.samples);
  const run = (begin: number) => dryRun(rule, { from: begin, to: now, samples, gaps });
  const whole = run(from);
  // A week with too much in it is looked at from a later day on, so that what is said is true until now.
  const begin = whole.cutAt === undefined ? from : now - (whole.cutAt - from) / 2;
  const { times } = begin === from ? whole : run(begin);
  const since = Math.max(begin, ...kept.map((one) => one.since));
  return {
    times,
    // A rule that ran twice in its first hour does not run 48 times a day.
    days: Math.max((now - since) / DAY_MS, 1),
    ...(since > from && { since }),
    hasPresence: rule.only_if?.presence !== undefined,
  };
}
