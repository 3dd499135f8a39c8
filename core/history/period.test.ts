/** Parts of the past by the home's clock, also on the nights when it changes. */
import { expect, test } from "vitest";
import { HOUR_MS } from "../time/zone.ts";
import { readPeriod, stepsOf } from "./period.ts";

const BERLIN = "Europe/Berlin";
/** A Thursday, 15:10 in Berlin. */
const NOW = Date.UTC(2026, 10, 26, 14, 10);
const iso = (at: number) => new Date(at).toISOString().slice(0, 16);

test.each([
  [undefined, "2026-11-19T14:10", "2026-11-26T14:10"],
  ["today", "2026-11-25T23:00", "2026-11-26T14:10"],
  ["Yesterday", "2026-11-24T23:00", "2026-11-25T23:00"],
  ["the day before yesterday", "2026-11-23T23:00", "2026-11-24T23:00"],
  ["this week", "2026-11-22T23:00", "2026-11-26T14:10"],
  ["last week", "2026-11-15T23:00", "2026-11-22T23:00"],
  ["this month", "2026-10-31T23:00", "2026-11-26T14:10"],
  // Summer time ended on the 25th of October.
  ["last month", "2026-09-30T22:00", "2026-10-31T23:00"],
  ["last year", "2024-12-31T23:00", "2025-12-31T23:00"],
  ["last night", "2026-11-25T21:00", "2026-11-26T05:00"],
  ["24 h", "2026-11-25T14:10", "2026-11-26T14:10"],
  ["last 3 days", "2026-11-23T14:10", "2026-11-26T14:10"],
  ["90 minutes", "2026-11-26T12:40", "2026-11-26T14:10"],
  ["monday", "2026-11-22T23:00", "2026-11-23T23:00"],
  ["Thursday", "2026-11-25T23:00", "2026-11-26T14:10"],
  ["last thursday", "2026-11-18T23:00", "2026-11-19T23:00"],
  ["2026-11-23", "2026-11-22T23:00", "2026-11-23T23:00"],
  ["2026-11-23 to 2026-11-24", "2026-11-22T23:00", "2026-11-24T23:00"],
  ["2026-11-23 08:00 to 12:00", "2026-11-23T07:00", "2026-11-23T11:00"],
  ["2026-11-23 08:00 to 2026-11-24 12:00", "2026-11-23T07:00", "2026-11-24T11:00"],
  ["yesterday 18:00-22:30", "2026-11-25T17:00", "2026-11-25T21:30"],
  ["08:00 to 12:00", "2026-11-26T07:00", "2026-11-26T11:00"],
  ["since monday", "2026-11-22T23:00", "2026-11-26T14:10"],
  ["since 2026-11-20 06:00", "2026-11-20T05:00", "2026-11-26T14:10"],
  ["yesterday 22:00 to now", "2026-11-25T21:00", "2026-11-26T14:10"],
])("%s", (text, from, to) => {
  const period = readPeriod(text, BERLIN, NOW);
  expect(period.ok && [iso(period.value.from), iso(period.value.to)]).toEqual([from, to]);
});

test.each([
  ["tomorrow", /^period: expected today, yesterday/],
  ["2026-11-31", /^period: expected/],
  ["2026-12-24", /^period: it is not over yet/],
  ["2026-11-24 to 2026-11-20", /^period: its end is not after its beginning/],
  ["14:00", /^period: expected/],
  ["25:99 to 26:00", /^period: expected/],
])("%s is refused with what would be right", (text, error) => {
  const period = readPeriod(text, BERLIN, NOW);
  expect(period.ok ? "" : period.error).toMatch(error);
});

test.each([
  ["2026-10-25", "Europe/Berlin", 25],
  ["2026-03-29", "Europe/Berlin", 23],
  ["2026-11-01", "America/New_York", 25],
  ["2026-04-05", "Australia/Lord_Howe", 24.5],
  ["2026-09-06", "America/Santiago", 23],
  ["2026-04-24", "Africa/Cairo", 23],
])("%s in %s has %s hours, and so many rows of an hour", (text, zone, hours) => {
  const period = readPeriod(text, zone, Date.UTC(2027, 0, 1));
  if (!period.ok) throw new Error(period.error);
  const { from, to } = period.value;
  expect((to - from) / HOUR_MS).toBe(hours);
  const steps = stepsOf(period.value, "hour", zone);
  expect(steps.length).toBeGreaterThanOrEqual(Math.floor(hours));
  expect([steps[0]?.from, steps.at(-1)?.to]).toEqual([from, to]);
  for (const [at, step] of steps.entries()) expect(step.from).toBe(at === 0 ? from : steps[at - 1]?.to);
});

test("days, weeks and months begin where the home's clock begins them", () => {
  const period = { from: Date.UTC(2026, 9, 20), to: NOW };
  const begin = (by: "day" | "week" | "month") => stepsOf(period, by, BERLIN).map(({ from }) => iso(from));
  expect(begin("day").slice(0, 7)).toEqual([
    "2026-10-20T00:00",
    "2026-10-20T22:00",
    "2026-10-21T22:00",
    "2026-10-22T22:00",
    "2026-10-23T22:00",
    "2026-10-24T22:00",
    "2026-10-25T23:00",
  ]);
  expect(begin("week").slice(0, 3)).toEqual(["2026-10-20T00:00", "2026-10-25T23:00", "2026-11-01T23:00"]);
  expect(begin("month")).toEqual(["2026-10-20T00:00", "2026-10-31T23:00"]);
});
