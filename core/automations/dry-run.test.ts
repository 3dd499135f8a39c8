import { describe, expect, test } from "vitest";
import type { Sample } from "../history/sample.ts";
import { DAY_MS, HOUR_MS, MINUTE_MS } from "../time/zone.ts";
import { dryRun } from "./dry-run.ts";
import { conditionOf, NOON, pressed, ruleOf, stepOf } from "./testkit/rules.ts";

const from = NOON - 7 * DAY_MS;
const past = (...samples: Sample[][]) => ({ from, to: NOON, samples, gaps: [] });
const opened = (...times: [at: number, ms: number][]): Sample[] => [
  { at: from - DAY_MS, value: false },
  ...times.flatMap(([at, ms]) => [
    { at: from + at, value: true },
    { at: from + at + ms, value: false },
  ]),
];

describe("a rule over the past", () => {
  const held = ruleOf({ when: [conditionOf({ hold_ms: 5 * MINUTE_MS })] });

  test("it says when it would have run", () => {
    const samples = opened([HOUR_MS, 4 * MINUTE_MS], [DAY_MS, HOUR_MS], [2 * DAY_MS, 6 * MINUTE_MS]);
    expect(dryRun(held, past(samples))).toEqual({
      times: [from + DAY_MS + 5 * MINUTE_MS, from + 2 * DAY_MS + 5 * MINUTE_MS],
    });
  });

  test("what was so from the beginning, and what is not known, is no run", () => {
    expect(dryRun(held, past([{ at: from - DAY_MS, value: true }])).times).toEqual([]);
    const gaps = [
      { from: from + DAY_MS - MINUTE_MS, to: from + DAY_MS + 10 * MINUTE_MS, why: "bridge" as const },
    ];
    expect(dryRun(held, { ...past(opened([DAY_MS, 20 * MINUTE_MS])), gaps }).times).toEqual([]);
    expect(dryRun(held, past([])).times).toEqual([]);
  });

  test("moments, times of the day and who was at home", () => {
    const rings = { at: from + HOUR_MS, value: "ring" };
    expect(
      dryRun(ruleOf({ when: [pressed()] }), past([{ ...rings, at: from - HOUR_MS }, rings])).times,
    ).toEqual([rings.at]);
    const daily = ruleOf({
      when: [],
      at: { of: "clock", minutes: 60 },
      only_if: { presence: "nobody_home" },
    });
    expect(dryRun(daily, past()).times).toHaveLength(7);
    const presence = (at: number) => (at < from + 3 * DAY_MS ? ("nobody" as const) : ("unknown" as const));
    expect(dryRun(daily, { ...past(), presence }).times).toHaveLength(3);
  });

  test("a busy week of four conditions is done at once, and far too many runs are cut", () => {
    const busy = (own: number) =>
      Array.from({ length: 5_000 }, (_, index) => ({
        at: from + index * 120_000 + own,
        value: index % 2 === 0,
      }));
    const rule = ruleOf({
      when: [1, 2, 3, 4].map(() => conditionOf()),
      match: "any",
      do: [stepOf({ wait_minutes: 1 })],
      an_hour: 60,
    });
    const start = performance.now();
    expect(dryRun(rule, past(...[0, 1_000, 2_000, 3_000].map(busy))).cutAt).toBeLessThan(NOON);
    expect(performance.now() - start).toBeLessThan(10_000);
  });
});
