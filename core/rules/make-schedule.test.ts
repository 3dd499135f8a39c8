import { expect, test } from "vitest";
import { localTime } from "../time/zone.ts";
import { scheduleOf } from "./make-schedule.ts";
import { nextTimes } from "./schedule.ts";
import { clockOf } from "./testkit/clock.ts";
import { NOON } from "./testkit/rules.ts";
import type { RemindInput } from "./tools.ts";

const ZONE = "Europe/Berlin";
const made = (input: Omit<RemindInput, "text">) => scheduleOf({ text: "x", ...input }, ZONE, NOON);
const times = (input: Omit<RemindInput, "text">) => {
  const schedule = made(input);
  return schedule.ok
    ? nextTimes(ZONE, schedule.value, NOON).map((at) => clockOf(localTime(ZONE, at)))
    : schedule.error;
};

test.each<[string, Omit<RemindInput, "text">, string[]]>([
  ["in 20 minutes", { in_minutes: 20 }, ["2026-11-22 12:20"]],
  ["at a date", { at_date: "2026-12-24 18:00" }, ["2026-12-24 18:00"]],
  ["every day", { every: "day", at: "08:00" }, ["2026-11-23 08:00", "2026-11-24 08:00", "2026-11-25 08:00"]],
  [
    "later today",
    { every: "day", at: "12:01" },
    ["2026-11-22 12:01", "2026-11-23 12:01", "2026-11-24 12:01"],
  ],
  [
    "workdays",
    { every: "weekday", at: "08:00" },
    ["2026-11-23 08:00", "2026-11-24 08:00", "2026-11-25 08:00"],
  ],
  [
    "weekends",
    { every: "weekend", at: "09:00" },
    ["2026-11-28 09:00", "2026-11-29 09:00", "2026-12-05 09:00"],
  ],
  [
    "each week, as today",
    { every: "week", at: "20:00" },
    ["2026-11-22 20:00", "2026-11-29 20:00", "2026-12-06 20:00"],
  ],
  [
    "on some days",
    { every: "week", at: "08:00", days: ["th", "mo", "mo"] },
    ["2026-11-23 08:00", "2026-11-26 08:00", "2026-11-30 08:00"],
  ],
  [
    "days with `day`",
    { every: "day", at: "08:00", days: ["fr"] },
    ["2026-11-27 08:00", "2026-12-04 08:00", "2026-12-11 08:00"],
  ],
  [
    "each month, as today",
    { every: "month", at: "08:00" },
    ["2026-12-22 08:00", "2027-01-22 08:00", "2027-02-22 08:00"],
  ],
  ["every hour from now on", { every: "hour" }, ["2026-11-22 13:00", "2026-11-22 14:00", "2026-11-22 15:00"]],
  [
    "every hour at a minute",
    { every: "hour", at: "00:15" },
    ["2026-11-22 12:15", "2026-11-22 13:15", "2026-11-22 14:15"],
  ],
])("%s", (_, input, expected) => {
  expect(times(input)).toEqual(expected);
});

test.each<[Omit<RemindInput, "text">, RegExp]>([
  [{}, /^in_minutes, at_date, every: give exactly one of them, not none$/],
  [{ in_minutes: 5, every: "day" }, /exactly one of them, not 2$/],
  [{ in_minutes: 5, at: "08:00" }, /^at: belongs to 'every'; leave it out$/],
  [{ at_date: "2026-12-24 18:00", days: ["mo"] }, /^days: belongs to 'every'/],
  [{ every: "day" }, /^at: 'every: day' needs a time, as in 08:00$/],
  [{ every: "day", at: "24:00" }, /^at: there is no 24:00; expected 00:00 to 23:59$/],
  [{ every: "weekend", at: "08:00", days: ["mo"] }, /^days: leave it out with every: weekend/],
  [{ every: "week", at: "08:00", days: [] }, /^days: name at least one/],
  [{ at_date: "2026-02-30 08:00" }, /^at_date: there is no 2026-02-30 08:00; expected YYYY-MM-DD HH:MM$/],
  [{ at_date: "2026-11-22 25:00" }, /^at_date: there is no/],
  [
    { at_date: "2026-11-22 11:59" },
    /^at_date: 2026-11-22 11:59 is over; it is Sun 22 Nov 2026, 12:00 there \(Europe\/Berlin\)$/,
  ],
])("%j is refused in words", (input, error) => {
  expect(made(input)).toEqual({ ok: false, error: expect.stringMatching(error) });
});

test("a date in the hour that comes twice is the first of them", () => {
  expect(scheduleOf({ text: "x", at_date: "2027-10-31 02:30" }, ZONE, NOON)).toMatchObject({
    ok: true,
    value: { kind: "date", hour: 2, minute: 30 },
  });
});
