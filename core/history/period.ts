/** Parts of the past as people and models write them: `yesterday`, `last week`, `24 h`, `2026-11-23 08:00 to 12:00`. By the home's clock. */
import { type Parsed, wrong } from "../protocol/parse.ts";
import {
  type ClockTime,
  DAY_MS,
  HOUR_MS,
  instantOf,
  localTime,
  MINUTE_MS,
  WEEKDAYS,
  weekdayOf,
} from "../time/zone.ts";
import type { Period } from "./pieces.ts";

/** Without words for one. */
const DEFAULT_MS = 7 * DAY_MS;

const EXPECTED =
  "expected today, yesterday, this or last week, month or year, '24 h', a weekday, or dates as in 2026-11-23 or '2026-11-23 08:00 to 2026-11-24 12:00'";

const LENGTHS: Readonly<Record<string, number>> = {
  m: MINUTE_MS,
  h: HOUR_MS,
  d: DAY_MS,
  w: 7 * DAY_MS,
};
const LENGTH =
  /^(?:(?:last|past|the last|the past) )?(\d{1,4}) ?(m|min|mins|minutes?|h|hrs?|hours?|d|days?|w|weeks?)$/;
const DATE = /^(\d{4})-(\d\d)-(\d\d)$/;
const TIME = /^(\d\d?):(\d\d)$/;
/** Between two moments. A dash of a date is not alone. */
const BETWEEN = /\s+(?:to|until|till|and|-|–|—)\s+|\s*\.\.+\s*|(?<=:\d\d)\s*[-–—]\s*(?=\d)/;

/** @param text absent: the last seven days @returns a part of time that ends now at the latest */
export function readPeriod(text: string | undefined, zone: string, now: number): Parsed<Period> {
  const words = (text ?? "").trim().toLowerCase().replace(/\s+/g, " ");
  const found = words === "" ? { from: now - DEFAULT_MS, to: now } : periodOf(words, zone, now);
  if (!found) return wrong(`period: ${EXPECTED}`);
  const period = { from: found.from, to: Math.min(found.to, now) };
  if (period.from >= now) return wrong("period: it is not over yet, and nothing of it is known");
  if (period.from >= period.to) return wrong("period: its end is not after its beginning");
  return { ok: true, value: period };
}

function periodOf(words: string, zone: string, now: number): Period | undefined {
  const since = /^(?:since|from) (.+)$/.exec(words)?.[1];
  const [first, last, ...more] = (since ?? words.replace(/^between /, "")).split(BETWEEN);
  if (first === undefined || more.length > 0) return undefined;
  if (last === undefined) {
    const one = momentOf(first, zone, now);
    if (!one) return undefined;
    if (since !== undefined) return { from: one.from, to: now };
    return one.from < one.to ? one : undefined;
  }
  const from = momentOf(first, zone, now);
  // `2026-11-23 08:00 to 12:00`: on the same day.
  const to = from && (TIME.test(last) ? onDay(from.from, last, zone) : momentOf(last, zone, now));
  return from && to ? { from: from.from, to: Math.max(to.from, to.to) } : undefined;
}

/** A day, a longer part of time, or a moment, which has no length. */
function momentOf(words: string, zone: string, now: number): Period | undefined {
  const [, number, unit] = LENGTH.exec(words) ?? [];
  if (unit !== undefined) {
    const ms = Number(number) * (LENGTHS[unit[0] ?? ""] ?? 0);
    return ms > 0 ? { from: now - ms, to: now } : undefined;
  }
  if (words === "now") return { from: now, to: now };
  const today = localTime(zone, now);
  if (TIME.test(words)) return onDay(now, words, zone);
  const [day, time, ...more] = words.split(/ (?=\d\d?:\d\d$)/);
  if (day === undefined || more.length > 0) return undefined;
  const named = namedPart(day, zone, today);
  return named && time !== undefined ? onDay(named.from, time, zone) : named;
}

function namedPart(words: string, zone: string, today: ClockTime): Period | undefined {
  const { year, month, day } = today;
  const days = (first: number, count = 1) =>
    part(zone, { year, month, day: day + first }, { year, month, day: day + first + count });
  const sinceMonday = (WEEKDAYS.indexOf(weekdayOf(year, month, day)) + 6) % 7;
  switch (words) {
    case "today":
      return days(0);
    case "yesterday":
      return days(-1);
    case "day before yesterday":
    case "the day before yesterday":
      return days(-2);
    case "this week":
      return days(-sinceMonday, 7);
    case "last week":
      return days(-sinceMonday - 7, 7);
    case "this month":
      return part(zone, { year, month, day: 1 }, { year, month: month + 1, day: 1 });
    case "last month":
      return part(zone, { year, month: month - 1, day: 1 }, { year, month, day: 1 });
    case "this year":
      return part(zone, { year, month: 1, day: 1 }, { year: year + 1, month: 1, day: 1 });
    case "last year":
      return part(zone, { year: year - 1, month: 1, day: 1 }, { year, month: 1, day: 1 });
    case "last night":
      return {
        from: clock(zone, { year, month, day: day - 1 }, 22),
        to: clock(zone, { year, month, day }, 6),
      };
    case "this morning":
      return { from: clock(zone, { year, month, day }, 5), to: clock(zone, { year, month, day }, 12) };
  }
  const named = WEEKDAY.exec(words)?.[1];
  if (named !== undefined) {
    const weekday = WEEKDAYS.findIndex((name) => named.startsWith(name));
    const back = (WEEKDAYS.indexOf(weekdayOf(year, month, day)) - weekday + 7) % 7;
    // The last Monday, on a Monday, is that of a week ago.
    return days(back === 0 && words.startsWith("last ") ? -7 : -back);
  }
  const date = dateOf(words);
  return date && part(zone, date, { ...date, day: date.day + 1 });
}

const WEEKDAY = /^(?:last |on )?(mon|tue|tues|wed|wednes|thu|thur|thurs|fri|sat|satur|sun)(?:day)?$/;

type DateParts = Pick<ClockTime, "year" | "month" | "day">;

/** @returns undefined: there is no such date */
function dateOf(words: string): DateParts | undefined {
  const [, year, month, day] = (DATE.exec(words) ?? []).map(Number);
  if (year === undefined || month === undefined || day === undefined) return undefined;
  const made = new Date(Date.UTC(year, month - 1, day));
  return made.getUTCMonth() === month - 1 && made.getUTCDate() === day ? { year, month, day } : undefined;
}

function part(zone: string, from: DateParts, to: DateParts): Period {
  return { from: clock(zone, from, 0), to: clock(zone, to, 0) };
}

function clock(zone: string, { year, month, day }: DateParts, hour: number, minute = 0): number {
  return instantOf(zone, { year, month, day, hour, minute });
}

/** @returns the moment of a time on the day of another one */
function onDay(at: number, time: string, zone: string): Period | undefined {
  const [, hour, minute] = (TIME.exec(time) ?? []).map(Number);
  if (hour === undefined || minute === undefined || hour > 24 || minute > 59) return undefined;
  const moment = clock(zone, localTime(zone, at), hour, minute);
  return { from: moment, to: moment };
}

/** Parts of a period, each an hour, day, week or month of the zone, of which the first and the last may be shorter. */
export function stepsOf({ from, to }: Period, by: "hour" | "day" | "week" | "month", zone: string): Period[] {
  const steps: Period[] = [];
  let at = from;
  while (at < to && steps.length < STEPS_MAX) {
    const next = Math.min(nextStep(at, by, zone), to);
    steps.push({ from: at, to: next });
    at = next;
  }
  return steps;
}

/** A year of hours. */
const STEPS_MAX = 10_000;

function nextStep(at: number, by: "hour" | "day" | "week" | "month", zone: string): number {
  const { year, month, day, minute, second } = localTime(zone, at);
  // Some zones are half an hour off.
  if (by === "hour") return Math.floor(at / 1_000) * 1_000 - second * 1_000 - minute * MINUTE_MS + HOUR_MS;
  if (by === "month") return clock(zone, { year, month: month + 1, day: 1 }, 0);
  if (by === "day") return clock(zone, { year, month, day: day + 1 }, 0);
  const sinceMonday = (WEEKDAYS.indexOf(weekdayOf(year, month, day)) + 6) % 7;
  return clock(zone, { year, month, day: day - sinceMonday + 7 }, 0);
}
