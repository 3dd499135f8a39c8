/** Times by the clock of a home: when a reminder is due, also over nights when the clock is changed. */

import { Instant } from "../protocol/instant.ts";
import { z } from "../protocol/parse.ts";
import { DAY_MS, HOUR_MS, instantOf, localTime, MINUTE_MS, WEEKDAYS, weekdayOf } from "../time/zone.ts";

const hour = z.int().check(z.minimum(0), z.maximum(23));
const minute = z.int().check(z.minimum(0), z.maximum(59));
const month = z.int().check(z.minimum(1), z.maximum(12));
const dayOfMonth = z.int().check(z.minimum(1), z.maximum(31));
const year = z.int().check(z.minimum(2_000), z.maximum(9_999));
const days = z.array(z.enum(WEEKDAYS)).check(z.minLength(1), z.maxLength(7));

/**
 * When a rule of time is due. All but `instant` is by the clock, so it keeps its clock time when the home's zone changes.
 * - `instant`: once, at epoch ms.
 * - `date`: once, at that time of the clock.
 * - `hours`: whenever the clock shows that minute, on these days.
 * - `days`: once on each of these days.
 * - `month`: once a month; where a month has no such day, on its last one.
 */
export const Schedule = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("instant"), at: Instant }),
  z.object({ kind: z.literal("date"), year, month, day: dayOfMonth, hour, minute }),
  z.object({ kind: z.literal("hours"), minute, days }),
  z.object({ kind: z.literal("days"), hour, minute, days }),
  z.object({ kind: z.literal("month"), day: dayOfMonth, hour, minute }),
]);
export type Schedule = z.infer<typeof Schedule>;

/** A time that was missed by less than this is still told. */
const LATE_MS = HOUR_MS;
/** Missed times before that are not even listed. */
const LISTED_MS = 7 * DAY_MS;
/** An alarm of the platform may come a minute late, which is not worth a word. */
const WORTH_SAYING_MS = 2 * MINUTE_MS;

/**
 * The first time after `after` (both epoch ms), or undefined when there is none.
 *
 * A time that the clock leaves out is due at the first moment after the gap; one that comes twice is due the first time.
 */
export function nextTime(zone: string, schedule: Schedule, after: number): number | undefined {
  switch (schedule.kind) {
    case "instant":
      return schedule.at > after ? schedule.at : undefined;
    case "date": {
      const at = instantOf(zone, schedule);
      return at > after ? at : undefined;
    }
    case "hours":
      return nextMinute(zone, schedule, after);
    case "days":
      return nextDay(zone, schedule, after);
    case "month":
      return nextMonth(zone, schedule, after);
  }
}

/** The next times after `after`, at most `count`. */
export function nextTimes(zone: string, schedule: Schedule, after: number, count = 3): number[] {
  const times: number[] = [];
  for (let at = nextTime(zone, schedule, after); at !== undefined; at = nextTime(zone, schedule, at)) {
    times.push(at);
    if (times.length >= count) break;
  }
  return times;
}

/** @property late true when it is so late that the person should know the time that was meant */
export type DueTimes = { due: { at: number; late: boolean } | undefined; skipped: number[] };

/**
 * The times after `since` (epoch ms: the last one that was handled, or when the rule was made) and up to `now`.
 * @returns `due`: the newest, if it is less than an hour ago. `skipped`: all others of the last week, oldest first; they are
 *   only listed, so that a gateway that was away does not say ten things at once
 */
export function dueTimes(zone: string, schedule: Schedule, since: number, now: number): DueTimes {
  const times: number[] = [];
  let at = nextTime(zone, schedule, Math.max(since, now - LISTED_MS));
  while (at !== undefined && at <= now) {
    times.push(at);
    at = nextTime(zone, schedule, at);
  }
  const newest = times.at(-1);
  if (newest === undefined || now - newest >= LATE_MS) return { due: undefined, skipped: times };
  return { due: { at: newest, late: now - newest > WORTH_SAYING_MS }, skipped: times.slice(0, -1) };
}

type Of<Kind extends Schedule["kind"]> = Extract<Schedule, { kind: Kind }>;

function nextDay(zone: string, { hour, minute, days }: Of<"days">, after: number): number | undefined {
  const today = localTime(zone, after);
  // From yesterday on: a gap over midnight moves yesterday's time to today.
  for (let ahead = -1; ahead <= 8; ahead += 1) {
    const day = today.day + ahead;
    if (!days.includes(weekdayOf(today.year, today.month, day))) continue;
    const at = instantOf(zone, { ...today, day, hour, minute });
    if (at > after) return at;
  }
  return undefined;
}

function nextMonth(zone: string, { day, hour, minute }: Of<"month">, after: number): number | undefined {
  const today = localTime(zone, after);
  for (let ahead = 0; ahead <= 2; ahead += 1) {
    const month = today.month + ahead;
    const last = new Date(Date.UTC(today.year, month, 0)).getUTCDate();
    const at = instantOf(zone, { ...today, month, day: Math.min(day, last), hour, minute });
    if (at > after) return at;
  }
  return undefined;
}

/** Goes by real hours: an hour that the clock shows twice is two hours. */
function nextMinute(zone: string, { minute, days }: Of<"hours">, after: number): number | undefined {
  let at = (Math.floor(after / MINUTE_MS) + 1) * MINUTE_MS;
  const end = at + 9 * DAY_MS;
  while (at < end) {
    const local = localTime(zone, at);
    const wait = (minute - local.minute + 60) % 60;
    if (wait === 0 && days.includes(local.weekday)) return at;
    // The clock may be changed meanwhile, so the minute is looked at again.
    at += wait === 0 ? HOUR_MS : wait * MINUTE_MS;
  }
  return undefined;
}
