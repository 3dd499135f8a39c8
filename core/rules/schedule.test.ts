import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { DAY_MS, HOUR_MS, instantOf, isZone, localTime, MINUTE_MS, WEEKDAYS } from "../time/zone.ts";
import { dueTimes, nextTime, nextTimes, type Schedule } from "./schedule.ts";
import { clockOf, ZONES } from "./testkit/clock.ts";

const daily = (
  hour: number,
  minute: number,
  days: readonly (typeof WEEKDAYS)[number][] = WEEKDAYS,
): Schedule => ({
  kind: "days",
  hour,
  minute,
  days: [...days],
});
const at = (iso: string) => Date.parse(iso);
const shown = (zone: string, times: readonly (number | undefined)[]) =>
  times.map((time) => (time === undefined ? "never" : clockOf(localTime(zone, time))));

describe("the nights in which the clock is changed", () => {
  test.each([
    ["Europe/Berlin", "2027-03-27T12:00Z", 2, 30, ["2027-03-28 03:00", "2027-03-29 02:30"]],
    ["Europe/Berlin", "2027-10-30T12:00Z", 2, 30, ["2027-10-31 02:30", "2027-11-01 02:30"]],
    ["America/St_Johns", "2027-03-13T12:00Z", 2, 0, ["2027-03-14 03:00", "2027-03-15 02:00"]],
    ["America/St_Johns", "2027-11-06T12:00Z", 1, 59, ["2027-11-07 01:59", "2027-11-08 01:59"]],
    ["Australia/Lord_Howe", "2027-10-02T00:00Z", 2, 15, ["2027-10-03 02:30", "2027-10-04 02:15"]],
    ["Australia/Lord_Howe", "2027-04-03T00:00Z", 1, 45, ["2027-04-04 01:45", "2027-04-05 01:45"]],
    ["Africa/Cairo", "2027-04-29T12:00Z", 0, 10, ["2027-04-30 01:00", "2027-05-01 00:10"]],
    ["Africa/Cairo", "2027-10-28T12:00Z", 23, 30, ["2027-10-28 23:30", "2027-10-29 23:30"]],
    ["Asia/Kathmandu", "2027-03-28T00:00Z", 8, 0, ["2027-03-28 08:00", "2027-03-29 08:00"]],
  ])("%s after %s at %i:%i", (zone, after, hour, minute, expected) => {
    expect(shown(zone, nextTimes(zone, daily(hour, minute), at(after), 2))).toEqual(expected);
  });

  test("a time that comes twice is due the first time, and not again in the second hour", () => {
    const first = at("2027-10-31T00:30Z");
    expect(instantOf("Europe/Berlin", { year: 2027, month: 10, day: 31, hour: 2, minute: 30 })).toBe(first);
    for (const after of [first, first + 30 * MINUTE_MS, first + HOUR_MS])
      expect(shown("Europe/Berlin", [nextTime("Europe/Berlin", daily(2, 30), after)])).toEqual([
        "2027-11-01 02:30",
      ]);
  });

  test("08:00 stays 08:00 over both nights", () => {
    for (const { zone, gap, twice } of ZONES)
      for (const night of [gap, twice])
        if (night)
          for (const time of nextTimes(zone, daily(8, 0), at(`${night.date}T00:00Z`) - 2 * DAY_MS, 5))
            expect(localTime(zone, time)).toMatchObject({ hour: 8, minute: 0 });
  });

  const anyTime = fc.record({ hour: fc.nat({ max: 23 }), minute: fc.nat({ max: 59 }) });

  test.each(ZONES.flatMap(({ zone, gap, twice }) => [gap, twice].map((night) => ({ zone, night }))))(
    "$zone, $night.date: each daily rule is due once a day, in order, and at its time where the clock shows it",
    ({ zone, night }) => {
      // Without a changed clock, an ordinary week.
      const middle = at(`${night?.date ?? "2027-03-28"}T00:00Z`);
      const nearChange = fc.record({
        hour: fc.constantFrom(
          ((night?.hour ?? 2) + 23) % 24,
          night?.hour ?? 2,
          ((night?.hour ?? 2) + 1) % 24,
        ),
        minute: fc.nat({ max: 59 }),
      });
      fc.assert(
        fc.property(fc.oneof(anyTime, nearChange), ({ hour, minute }) => {
          const times = nextTimes(zone, daily(hour, minute), middle - 4 * DAY_MS, 8);
          const days = times.map((time) => clockOf(localTime(zone, time)).slice(0, 10));
          // Eight days in a row, each once.
          const first = at(`${days[0]}T00:00Z`);
          expect(days).toEqual(
            Array.from({ length: 8 }, (_, day) => new Date(first + day * DAY_MS).toISOString().slice(0, 10)),
          );
          expect(times).toEqual([...new Set(times)].sort((a, b) => a - b));
          for (const time of times) {
            const local = localTime(zone, time);
            const meant = hour * 60 + minute;
            const isMeant = local.hour * 60 + local.minute === meant;
            // Else the clock leaves it out: a moment before, it showed an earlier time.
            const before = localTime(zone, time - MINUTE_MS);
            const isAfterGap =
              local.hour * 60 + local.minute > meant &&
              (before.day !== local.day || before.hour * 60 + before.minute < meant);
            expect(isMeant || isAfterGap).toBe(true);
          }
        }),
        { numRuns: 60 },
      );
    },
  );

  test("an hourly rule goes by real hours, also where the clock shows an hour twice", () => {
    const hourly: Schedule = { kind: "hours", minute: 15, days: [...WEEKDAYS] };
    const times = nextTimes("Europe/Berlin", hourly, at("2027-10-30T22:30Z"), 6);
    expect(shown("Europe/Berlin", times).map((text) => text.slice(11))).toEqual([
      "01:15",
      "02:15",
      "02:15",
      "03:15",
      "04:15",
      "05:15",
    ]);
    expect(new Set(times.map((time, n) => time - (times[n - 1] ?? time - HOUR_MS)))).toEqual(
      new Set([HOUR_MS]),
    );
    const spring = nextTimes("Europe/Berlin", hourly, at("2027-03-27T23:30Z"), 3);
    expect(shown("Europe/Berlin", spring).map((text) => text.slice(11))).toEqual(["01:15", "03:15", "04:15"]);
  });
});

describe("each kind of schedule", () => {
  const zone = "Europe/Berlin";
  const monday = at("2026-11-23T09:00Z");

  test.each<[string, Schedule, string[]]>([
    [
      "workdays",
      daily(8, 0, ["mo", "tu", "we", "th", "fr"]),
      ["2026-11-24 08:00", "2026-11-25 08:00", "2026-11-26 08:00"],
    ],
    ["weekends", daily(9, 30, ["sa", "su"]), ["2026-11-28 09:30", "2026-11-29 09:30", "2026-12-05 09:30"]],
    [
      "one day of the week, later today",
      daily(10, 1, ["mo"]),
      ["2026-11-23 10:01", "2026-11-30 10:01", "2026-12-07 10:01"],
    ],
    [
      "one day of the week, over for today",
      daily(10, 0, ["mo"]),
      ["2026-11-30 10:00", "2026-12-07 10:00", "2026-12-14 10:00"],
    ],
    [
      "the last day of short months",
      { kind: "month", day: 31, hour: 7, minute: 0 },
      ["2026-11-30 07:00", "2026-12-31 07:00", "2027-01-31 07:00"],
    ],
    [
      "hours of some days",
      { kind: "hours", minute: 0, days: ["tu"] },
      ["2026-11-24 00:00", "2026-11-24 01:00", "2026-11-24 02:00"],
    ],
    ["a date", { kind: "date", year: 2026, month: 12, day: 24, hour: 18, minute: 0 }, ["2026-12-24 18:00"]],
    ["an instant", { kind: "instant", at: monday + MINUTE_MS }, ["2026-11-23 10:01"]],
    ["a date that is over", { kind: "date", year: 2026, month: 11, day: 23, hour: 10, minute: 0 }, []],
    ["an instant that is over", { kind: "instant", at: monday }, []],
  ])("%s", (_, schedule, expected) => {
    expect(shown(zone, nextTimes(zone, schedule, monday))).toEqual(expected);
  });

  test("the 31st in February of a leap year", () => {
    const next = nextTime(zone, { kind: "month", day: 31, hour: 8, minute: 0 }, at("2028-02-01T00:00Z"));
    expect(shown(zone, [next])).toEqual(["2028-02-29 08:00"]);
  });

  test("a rule keeps its clock time when the home moves to another zone", () => {
    const there = "Asia/Tokyo";
    expect(shown(there, [nextTime(there, daily(8, 0), monday)])).toEqual(["2026-11-24 08:00"]);
  });

  test("a zone has a name", () => {
    expect(["Europe/Berlin", "UTC", "Foo/Bar", "+02:00", "", "CET"].map(isZone)).toEqual([
      true,
      true,
      false,
      false,
      false,
      true,
    ]);
  });
});

describe("times that were missed", () => {
  const zone = "Europe/Berlin";
  const eight = at("2026-11-23T07:00Z");

  test("on time, late within the hour, and too late", () => {
    const due = (late: number) => dueTimes(zone, daily(8, 0), eight - DAY_MS, eight + late);
    expect(due(-1)).toEqual({ due: undefined, skipped: [] });
    expect(due(0)).toEqual({ due: { at: eight, late: false }, skipped: [] });
    expect(due(MINUTE_MS)).toEqual({ due: { at: eight, late: false }, skipped: [] });
    expect(due(59 * MINUTE_MS)).toEqual({ due: { at: eight, late: true }, skipped: [] });
    expect(due(HOUR_MS)).toEqual({ due: undefined, skipped: [eight] });
  });

  test("ten days away: one is said, those of the last week are listed, and none comes twice", () => {
    const { due, skipped } = dueTimes(zone, daily(8, 0), eight - 10 * DAY_MS, eight + 1);
    expect(due).toEqual({ at: eight, late: false });
    expect(skipped).toEqual([6, 5, 4, 3, 2, 1].map((days) => eight - days * DAY_MS));
    expect(dueTimes(zone, daily(8, 0), eight, eight + 1)).toEqual({ due: undefined, skipped: [] });
  });
});
