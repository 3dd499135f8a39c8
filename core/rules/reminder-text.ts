/** Writes what a reminder says, and its times in words. */

import type { Weekday } from "../time/zone.ts";
import { plainText } from "./plain-text.ts";
import { REMINDER_TEXT_MAX, type Reminder } from "./reminder.ts";
import type { Schedule } from "./schedule.ts";
import { timeText, WEEKDAY_WORDS } from "./time-text.ts";
import { clockText } from "./window.ts";

const WEEK: readonly Weekday[] = ["mo", "tu", "we", "th", "fr", "sa", "su"];
/** Skipped times that are named. */
const NAMED_MAX = 3;

/**
 * @param due the time that was meant, epoch ms; absent: it was missed for too long and is not said
 * @param skipped the times that were missed, epoch ms
 */
export function reminderText(
  { text }: Pick<Reminder, "text">,
  { due, skipped }: { due: { at: number; late: boolean } | undefined; skipped: readonly number[] },
  { zone, now }: { zone: string; now: number },
): string {
  const words = plainText(text, REMINDER_TEXT_MAX);
  const time = (at: number) => timeText(at, zone, now);
  const late = due?.late ? ` (It was due at ${time(due.at)}.)` : "";
  const named = skipped.slice(-NAMED_MAX).map(time).join("; ");
  const more = skipped.length > NAMED_MAX ? ` (${skipped.length} in all)` : "";
  const missed = skipped.length === 0 ? "" : `Missed while the gateway was away: ${named}${more}.`;
  if (!due) return `⏰ ${words}\n${missed}`;
  return `⏰ ${words}${late}${missed === "" ? "" : `\n${missed}`}`;
}

/** `every weekday at 08:00`. @param first the next time, of a schedule that has a single one */
export function scheduleText(schedule: Schedule, zone: string, first: number | undefined): string {
  switch (schedule.kind) {
    case "instant":
    case "date":
      return first === undefined ? "at a time that is over" : `once, ${timeText(first, zone)}`;
    case "hours":
      return `every hour at :${String(schedule.minute).padStart(2, "0")}${onDays(schedule.days)}`;
    case "days":
      return `${daysWords(schedule.days)} at ${clockText(schedule.hour * 60 + schedule.minute)}`;
    case "month": {
      const short = schedule.day > 28 ? " (or its last day)" : "";
      return `on day ${schedule.day} of each month${short} at ${clockText(schedule.hour * 60 + schedule.minute)}`;
    }
  }
}

function onDays(days: readonly Weekday[]): string {
  return days.length === WEEK.length ? "" : `, ${daysWords(days)}`;
}

function daysWords(days: readonly Weekday[]): string {
  const chosen = WEEK.filter((day) => days.includes(day));
  const all = chosen.join();
  if (chosen.length === WEEK.length) return "every day";
  if (all === "mo,tu,we,th,fr") return "every weekday";
  if (all === "sa,su") return "every Saturday and Sunday";
  return `every ${chosen.map((day) => WEEKDAY_WORDS[day]).join(", ")}`;
}
