import { describe, expect, test } from "vitest";
import type { AutomationTime } from "../protocol/automation.ts";
import { DAY_MS, localTime, MINUTE_MS } from "../time/zone.ts";
import { advance } from "./run.ts";
import { type AutomationState, initialAutomation } from "./state.ts";
import { around, ruleOf } from "./testkit/rules.ts";
import { nextMoment, sunOf } from "./times.ts";

const ZONES = [
  "Europe/Berlin",
  "America/New_York",
  "Australia/Lord_Howe",
  "America/Santiago",
  "Africa/Cairo",
];

/** Each minute of the clock, one after another: nights on which the clock is changed, found by the walk alone. */
function changes(zone: string, year: number): number[] {
  const found: number[] = [];
  const offset = (at: number) => {
    const { hour, minute } = localTime(zone, at);
    return (hour * 60 + minute - Math.floor(at / MINUTE_MS) + 1_440 * 1_000_000) % 1_440;
  };
  for (let at = Date.UTC(year, 0, 1); at < Date.UTC(year + 1, 0, 1); at += DAY_MS)
    if (offset(at) !== offset(at + DAY_MS)) found.push(at);
  return found;
}

type Minute = { at: number; day: number; clock: number };

function walk(zone: string, from: number, to: number): Minute[] {
  const minutes: Minute[] = [];
  for (let at = from; at < to; at += MINUTE_MS) {
    const { month, day, hour, minute } = localTime(zone, at);
    minutes.push({ at, day: month * 100 + day, clock: hour * 60 + minute });
  }
  return minutes;
}

/** The first minute of each day at which the clock shows this, or is past it. */
function firsts(walked: readonly Minute[], minutes: number): number[] {
  const times = new Map<number, number>();
  for (const { at, day, clock } of walked) if (clock >= minutes && !times.has(day)) times.set(day, at);
  return [...times.values()];
}

describe("nights on which the clock is changed, against a walk over each minute", () => {
  test.each(ZONES.flatMap((zone) => [2026, 2027, 2028, 2029, 2030].map((year) => [zone, year] as const)))(
    "%s in %i: one run a day, at its minute",
    (zone, year) => {
      const nights = changes(zone, year);
      expect(nights.length).toBeGreaterThan(1);
      for (const night of nights) {
        const [from, to] = [night - DAY_MS, night + 3 * DAY_MS];
        const walked = walk(zone, from - DAY_MS, to);
        for (const minutes of [0, 15, 59, 60, 90, 119, 120, 135, 150, 179, 180, 480, 1_410, 1_439]) {
          const expected = firsts(walked, minutes).filter((at) => at > from);
          const rule = ruleOf({ when: [], at: { of: "clock", minutes }, zone });
          const times: number[] = [];
          for (let one = nextMoment(rule, from); one && one.at < to; one = nextMoment(rule, one.at))
            times.push(one.at);
          expect(times.map(iso), `${minutes}`).toEqual(expected.map(iso));
        }
      }
    },
  );
});

const iso = (at: number) => new Date(at).toISOString();

describe("the sun", () => {
  // By the tables of NOAA and of timeanddate.com, in UTC.
  test.each([
    ["Berlin, midsummer", 52.5, 13.4, "Europe/Berlin", "2026-06-21", "02:43", "19:33"],
    ["Berlin, midwinter", 52.5, 13.4, "Europe/Berlin", "2026-12-21", "07:15", "14:54"],
    ["Quito, equinox", -0.2, -78.5, "America/Guayaquil", "2026-03-20", "11:18", "23:24"],
    ["Sydney", -33.9, 151.2, "Australia/Sydney", "2026-01-15", "18:59", "09:08"],
    ["Auckland", -36.8, 174.8, "Pacific/Auckland", "2026-07-01", "19:34", "05:15"],
  ])("%s", (_, lat, lon, zone, date, sunrise, sunset) => {
    const noon = Date.parse(`${date}T00:00Z`) + DAY_MS / 2 - offsetOf(zone, `${date}T12:00Z`);
    const sun = sunOf({ lat, lon }, noon);
    expect(Math.abs(minuteOf(sun.sunrise) - clock(sunrise))).toBeLessThanOrEqual(2);
    expect(Math.abs(minuteOf(sun.sunset) - clock(sunset))).toBeLessThanOrEqual(2);
  });

  test("a day at a pole has none, and the next one that has is found", () => {
    const place = { lat: 69.6, lon: 18.9 };
    expect(sunOf(place, Date.parse("2026-12-15T11:00Z"))).toEqual({});
    expect(sunOf(place, Date.parse("2026-06-15T10:00Z"))).toEqual({});
    const rule = ruleOf({ when: [], at: { of: "sunrise", minutes: 0 }, zone: "Europe/Oslo", place });
    const next = nextMoment(rule, Date.parse("2026-12-01T00:00Z"));
    expect(iso(next?.at ?? 0).slice(0, 7)).toBe("2027-01");
  });

  test("offsets and days: each day has one, in order, also over a change of the clock", () => {
    const place = { lat: 52.5, lon: 13.4 };
    const at: AutomationTime = { of: "sunset", minutes: -30, days: [0, 6] };
    const rule = ruleOf({ when: [], at, place });
    const days: number[] = [];
    for (let one = nextMoment(rule, Date.parse("2026-10-20T00:00Z")); one && days.length < 4; ) {
      days.push(one.day);
      one = nextMoment(rule, one.at);
    }
    expect(days).toEqual([20261025, 20261026, 20261101, 20261102]);
  });
});

function offsetOf(zone: string, at: string): number {
  const local = localTime(zone, Date.parse(at));
  return Date.UTC(local.year, local.month - 1, local.day, local.hour, local.minute) - Date.parse(at);
}

const clock = (text: string) => Number(text.slice(0, 2)) * 60 + Number(text.slice(3));
const minuteOf = (at: number | undefined) => ((at ?? Number.NaN) / MINUTE_MS) % 1_440;

describe("a rule of a time", () => {
  const rule = ruleOf({ when: [], at: { of: "clock", minutes: 8 * 60 } });
  const morning = Date.parse("2026-11-23T07:00Z");
  const made = morning - 60 * MINUTE_MS;

  const tick = (state: AutomationState, at: number, sure = true) =>
    advance(rule, state, { of: "tick" }, around(at, { sure }));
  const fresh = () => tick(initialAutomation(rule, made), made).state;
  const outcomes = ({ effects }: ReturnType<typeof tick>) =>
    effects.flatMap((effect) =>
      effect.of === "begun" ? ["run"] : effect.of === "tell" ? [`${effect.run.why} ${effect.aloud}`] : [],
    );

  test("it runs at its time, and once", () => {
    const first = tick(fresh(), morning);
    expect(outcomes(first)).toEqual(["run"]);
    expect(outcomes(tick(first.state, morning + 1_000))).toEqual([]);
    expect(first.state.next?.at).toBe(morning + DAY_MS);
  });

  test("less than 10 minutes late it runs; later it does not, and says so", () => {
    expect(outcomes(tick(fresh(), morning + 9 * MINUTE_MS))).toEqual(["run"]);
    expect(outcomes(tick(fresh(), morning + 10 * MINUTE_MS))).toEqual(["late true"]);
    expect(outcomes(tick(fresh(), morning + 3 * DAY_MS + MINUTE_MS))).toEqual(["late true", "run"]);
  });

  test("with a clock that may be wrong no time is due", () => {
    expect(outcomes(tick(fresh(), morning, false))).toEqual([]);
    expect(outcomes(tick(tick(fresh(), morning, false).state, morning + MINUTE_MS))).toEqual(["run"]);
  });

  test("a clock that is set back comes to a day again that was done", () => {
    const { state } = tick(fresh(), morning);
    const at = morning - 30 * MINUTE_MS;
    const back = advance(
      rule,
      { ...state, run: undefined },
      { of: "clock_set", by: -30 * MINUTE_MS },
      around(at),
    );
    expect(back.state.next?.at).toBe(morning);
    expect(outcomes(tick(back.state, morning))).toEqual([]);
  });

  test("a clock that is set ahead by a month runs nothing of that time", () => {
    const at = made + 30 * DAY_MS;
    const ahead = advance(rule, fresh(), { of: "clock_set", by: 30 * DAY_MS }, around(at));
    expect(outcomes(ahead)).toEqual(["late true"]);
  });
});
