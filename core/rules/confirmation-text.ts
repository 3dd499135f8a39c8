/** The gateway's answer to `watch` and `remind`: what the person is shown, whatever the model says. */

import type { TimeWindow } from "../protocol/rules.ts";
import { conditionText, valueText } from "./condition-text.ts";
import { isTrue } from "./evaluate.ts";
import { plainText } from "./plain-text.ts";
import { REMINDER_TEXT_MAX, type Reminder } from "./reminder.ts";
import { scheduleText } from "./reminder-text.ts";
import { nextTimes } from "./schedule.ts";
import { spanText, timeText } from "./time-text.ts";
import { readValue } from "./value.ts";
import { isMomentary, RULE_NAME_MAX, type WatchRule } from "./watch-rule.ts";
import { clockText, isInside, windowText } from "./window.ts";

const PLACE_MAX = 120;
/** A value that is older than this is told with its age. */
const FRESH_MS = 120_000;

/**
 * @property place the device, as people call it: `Freezer (paired sensor)`
 * @property to who is told: `you here`, `the owners` @property then who is told where nobody answers
 * @property now the last value, with its time; undefined: not known
 * @property checked how often a device looks, in ms; undefined: it says by itself when its value changes
 * @property quiet the home's quiet hours
 */
export type WatchFacts = {
  place: string;
  to: string;
  then?: string | undefined;
  now?: { value: unknown; at: number } | undefined;
  checked?: number | undefined;
  quiet?: TimeWindow | undefined;
};

/** @param now epoch ms */
export function watchConfirmation(rule: WatchRule, facts: WatchFacts, now: number): string {
  const place = plainText(facts.place, PLACE_MAX);
  const parts = [
    `when ${conditionText(rule)}`,
    againWords(rule),
    hoursText(rule, facts.quiet),
    thenText(rule, facts.then),
  ];
  const checked =
    facts.checked === undefined ? "" : ` Checked by the device every ${spanText(facts.checked)}.`;
  const name = plainText(rule.name, RULE_NAME_MAX);
  return `Watching ${place}: tells ${plainText(facts.to, PLACE_MAX)} “${name}” ${parts
    .filter((part) => part !== "")
    .join(", ")}.${nowText(rule, facts.now, now)}${checked}`;
}

/** With the next three times. @param now epoch ms */
export function reminderConfirmation(reminder: Reminder, zone: string, to: string, now: number): string {
  const { schedule, text } = reminder;
  const times = nextTimes(zone, schedule, now);
  const [first] = times;
  const what = reminder.do === "brief" ? "Briefs" : "Reminds";
  const when = scheduleText(schedule, zone, first);
  const isSingle = schedule.kind === "instant" || schedule.kind === "date";
  const next = isSingle ? "" : ` Next: ${times.map((at) => timeText(at, zone)).join("; ")}.`;
  const words = plainText(text, REMINDER_TEXT_MAX);
  return `${what} ${plainText(to, PLACE_MAX)} ${when} (${zone}): “${words}”.${next}`;
}

function againWords({ repeat, cooldown_ms }: WatchRule): string {
  if (repeat === "once") return "once";
  if (repeat === "until_ack")
    return "again after 5, 15, 30 and 60 min and then hourly until somebody answers";
  return cooldown_ms === 0 ? "" : `again at most every ${spanText(cooldown_ms)}`;
}

function thenText({ then_to }: WatchRule, then = ""): string {
  return then_to
    ? `and ${plainText(then, PLACE_MAX)} if nobody answers within ${spanText(then_to.after_ms)}`
    : "";
}

function hoursText({ severity, only_between }: WatchRule, quiet: TimeWindow | undefined): string {
  const between = only_between
    ? `only between ${clockText(only_between.from)} and ${clockText(only_between.to)}`
    : "";
  const night =
    severity === "critical"
      ? "also at night (critical)"
      : quiet
        ? `but not in the quiet hours (${windowText(quiet)})`
        : "";
  return [between, night].filter((words) => words !== "").join(", ");
}

function nowText(rule: WatchRule, last: WatchFacts["now"], now: number): string {
  if (rule.is === "happens") return "";
  const value = last && readValue({ value: last.value }, rule.type, rule.unit);
  if (last === undefined || value === undefined) return " Its value is not known now.";
  const age = now - last.at > FRESH_MS ? ` (${spanText(now - last.at)} ago)` : "";
  const words = valueText(value, rule);
  if (!isTrue(rule, value) || isMomentary(rule)) return ` Now: ${words}${age}.`;
  const { hold_ms, only_between } = rule;
  const fires =
    only_between && !isInside(only_between, now)
      ? `from ${clockText(only_between.from)} on`
      : hold_ms === 0
        ? "at once"
        : `in ${spanText(hold_ms)}`;
  return ` Now: ${words}${age}, so this is so already: it fires ${fires} if it stays.`;
}
