/** Writes what a reminder says, and its times in words. */

import { ENGLISH, type Phrases } from "../phrases/phrases.ts";
import type { Weekday } from "../time/zone.ts";
import { plainText } from "./plain-text.ts";
import { REMINDER_TEXT_MAX, type Reminder } from "./reminder.ts";
import type { Schedule } from "./schedule.ts";
import { timeText } from "./time-text.ts";
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
  phrases: Phrases = ENGLISH,
): string {
  const time = (at: number) => timeText(at, zone, now, phrases);
  const late = due?.late ? phrases.say("wasDue", { time: time(due.at) }) : "";
  const words = phrases.sentences(plainText(text, REMINDER_TEXT_MAX), late);
  if (due && skipped.length === 0) return `⏰ ${words}`;
  return `⏰ ${words}\n${missedText(skipped, time, phrases)}`;
}

function missedText(skipped: readonly number[], time: (at: number) => string, phrases: Phrases): string {
  if (skipped.length === 0) return "";
  const times = skipped.slice(-NAMED_MAX).map(time).join("; ");
  return skipped.length > NAMED_MAX
    ? phrases.say("missedMore", { times, count: skipped.length })
    : phrases.say("missed", { times });
}

/** `every weekday at 08:00`. @param first the next time, of a schedule that has a single one */
export function scheduleText(
  schedule: Schedule,
  zone: string,
  first: number | undefined,
  phrases: Phrases = ENGLISH,
): string {
  switch (schedule.kind) {
    case "instant":
    case "date":
      return first === undefined
        ? phrases.say("timeIsOver")
        : phrases.say("onceAt", { time: timeText(first, zone, undefined, phrases) });
    case "hours": {
      const hourly = phrases.say("everyHour", { minute: String(schedule.minute).padStart(2, "0") });
      const isDaily = schedule.days.length === WEEK.length;
      return isDaily ? hourly : phrases.parts(hourly, daysText(schedule.days, phrases));
    }
    case "days": {
      const time = clockText(schedule.hour * 60 + schedule.minute);
      return phrases.say("daysAt", { days: daysText(schedule.days, phrases), time });
    }
    case "month": {
      const time = clockText(schedule.hour * 60 + schedule.minute);
      const key = schedule.day > 28 ? "monthlyOrLast" : "monthlyAt";
      return phrases.say(key, { day: String(schedule.day), time });
    }
  }
}

function daysText(days: readonly Weekday[], phrases: Phrases): string {
  const chosen = WEEK.filter((day) => days.includes(day));
  const all = chosen.join();
  if (chosen.length === WEEK.length) return phrases.say("everyDay");
  if (all === "mo,tu,we,th,fr") return phrases.say("everyWorkday");
  if (all === "sa,su") return phrases.say("everyWeekend");
  const named = chosen.map((day) => phrases.weekday(day));
  return phrases.say("everyDays", { days: phrases.list(named, "plain") });
}
