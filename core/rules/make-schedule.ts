/** Makes the schedule of a reminder from the fields that a model fills. */
import { type Parsed, wrong } from "../protocol/parse.ts";
import { type LocalTime, localTime, MINUTE_MS, WEEKDAYS, type Weekday } from "../time/zone.ts";
import { nextTime, type Schedule } from "./schedule.ts";
import { timeText } from "./time-text.ts";
import type { EVERY, RemindInput } from "./tools.ts";
import { readClock } from "./window.ts";

const WORKDAYS: readonly Weekday[] = ["mo", "tu", "we", "th", "fr"];
const WEEKEND: readonly Weekday[] = ["sa", "su"];

/**
 * Makes the schedule of a `remind`, by the home's clock. The error names the field and what would be right.
 * @param now epoch ms
 */
export function scheduleOf(input: RemindInput, zone: string, now: number): Parsed<Schedule> {
  const { in_minutes, at_date, every, at, days } = input;
  const given = [in_minutes, at_date, every].filter((one) => one !== undefined).length;
  if (given !== 1)
    return wrong(`in_minutes, at_date, every: give exactly one of them, not ${given === 0 ? "none" : given}`);
  if (every === undefined && (at ?? days) !== undefined)
    return wrong(`${at === undefined ? "days" : "at"}: belongs to 'every'; leave it out`);
  if (in_minutes !== undefined)
    return { ok: true, value: { kind: "instant", at: now + Math.round(in_minutes * MINUTE_MS) } };
  if (at_date !== undefined) return dateOf(at_date, zone, now);
  return every === undefined ? wrong("every: missing") : everyOf(every, at, days, localTime(zone, now));
}

function dateOf(text: string, zone: string, now: number): Parsed<Schedule> {
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0] = text.split(/[- :]/).map(Number);
  const date = new Date(Date.UTC(year, month - 1, day, hour, minute));
  const isReal = date.getUTCMonth() === month - 1 && date.getUTCDate() === day && date.getUTCHours() === hour;
  if (!isReal || minute > 59) return wrong(`at_date: there is no ${text}; expected YYYY-MM-DD HH:MM`);
  const schedule: Schedule = { kind: "date", year, month, day, hour, minute };
  if (nextTime(zone, schedule, now) === undefined)
    return wrong(`at_date: ${text} is over; it is ${timeText(now, zone)} there (${zone})`);
  return { ok: true, value: schedule };
}

function everyOf(
  every: (typeof EVERY)[number],
  at: string | undefined,
  days: readonly Weekday[] | undefined,
  now: LocalTime,
): Parsed<Schedule> {
  if (days?.length === 0) return wrong("days: name at least one, or leave it out");
  if (days && ["weekday", "weekend", "month"].includes(every))
    return wrong(`days: leave it out with every: ${every}; or use every: week`);
  const clock = at === undefined ? undefined : readClock(at);
  if (at !== undefined && clock === undefined) return wrong(`at: there is no ${at}; expected 00:00 to 23:59`);
  const minute = (clock ?? 0) % 60;
  // Without a time, an hour from now and every hour on.
  if (every === "hour")
    return {
      ok: true,
      value: {
        kind: "hours",
        minute: clock === undefined ? now.minute : minute,
        days: sorted(days ?? WEEKDAYS),
      },
    };
  if (clock === undefined) return wrong(`at: 'every: ${every}' needs a time, as in 08:00`);
  const time = { hour: Math.floor(clock / 60), minute };
  if (every === "month") return { ok: true, value: { kind: "month", day: now.day, ...time } };
  const chosen = days ?? { day: WEEKDAYS, weekday: WORKDAYS, weekend: WEEKEND, week: [now.weekday] }[every];
  return { ok: true, value: { kind: "days", ...time, days: sorted(chosen) } };
}

function sorted(days: readonly Weekday[]): Weekday[] {
  return WEEKDAYS.filter((day) => days.includes(day));
}
