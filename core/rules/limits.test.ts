import { describe, expect, test } from "vitest";
import { HOUR_MS, MINUTE_MS } from "../time/zone.ts";
import { heldUntil, isNoisy, type SentMessage } from "./limits.ts";
import { NOON } from "./testkit/rules.ts";
import type { Severity } from "./watch-rule.ts";

const SEVERITIES: Severity[] = ["info", "warning", "critical"];
const sentOf = (count: number, critical = false): SentMessage[] =>
  Array.from({ length: count }, (_, n) => ({ at: NOON + n * 1_000, critical }));
const now = NOON + 10 * MINUTE_MS;
/** Minutes from noon. */
const held = (home: Parameters<typeof heldUntil>[0], at = now) =>
  SEVERITIES.map((severity) => {
    const until = heldUntil(home, severity, at);
    return until === undefined ? "now" : (until - NOON) / MINUTE_MS;
  });

test("nothing holds back by itself", () => {
  expect(held({ sent: [] })).toEqual(["now", "now", "now"]);
});

describe("messages in an hour", () => {
  test("20 that are not critical; the critical ones go on", () => {
    expect(held({ sent: sentOf(19) })).toEqual(["now", "now", "now"]);
    expect(held({ sent: sentOf(20) })).toEqual([60, 60, "now"]);
    // Until the first of the last 20 is an hour ago.
    expect(held({ sent: sentOf(25) })).toEqual([60 + 5 / 60, 60 + 5 / 60, "now"]);
    expect(held({ sent: sentOf(20) }, NOON + HOUR_MS)).toEqual(["now", "now", "now"]);
  });

  test("60 in all, also of the critical ones", () => {
    expect(held({ sent: sentOf(59, true) })).toEqual(["now", "now", "now"]);
    expect(held({ sent: sentOf(60, true) })).toEqual([60, 60, 60]);
  });
});

test("quiet hours hold back all but what is critical, up to their end", () => {
  const quiet = { from: 660, to: 840, zone: "Europe/Berlin" };
  expect(held({ sent: [], quiet })).toEqual([120, 120, "now"]);
  expect(held({ sent: [], quiet }, NOON + 2 * HOUR_MS)).toEqual(["now", "now", "now"]);
});

test("after a message others gather for half a minute; the first goes at once, and a critical one too", () => {
  expect(held({ sent: [], lastAt: now })).toEqual([10.5, 10.5, "now"]);
  expect(held({ sent: [], lastAt: now - 29_999 })).toEqual([expect.closeTo(10), expect.closeTo(10), "now"]);
  expect(held({ sent: [], lastAt: now - 30_000 })).toEqual(["now", "now", "now"]);
});

test("the latest of the reasons counts", () => {
  const quiet = { from: 660, to: 780, zone: "Europe/Berlin" };
  expect(held({ sent: sentOf(25), quiet, lastAt: now })).toEqual([60 + 5 / 60, 60 + 5 / 60, "now"]);
  expect(held({ sent: sentOf(20), quiet: { ...quiet, to: 900 }, lastAt: now })).toEqual([180, 180, "now"]);
});

test("what a noisy agent fires waits for an hour, unless it is critical", () => {
  expect(held({ sent: [], noisyAt: now })).toEqual([70, 70, "now"]);
  expect(held({ sent: [], noisyAt: now - HOUR_MS })).toEqual(["now", "now", "now"]);
});

test("an agent is noisy after 30 changes in an hour", () => {
  const times = (count: number) => sentOf(count).map(({ at }) => at);
  expect([29, 30, 31].map((count) => isNoisy(times(count), now))).toEqual([false, true, true]);
  expect(isNoisy(times(30), NOON + HOUR_MS)).toBe(false);
});
