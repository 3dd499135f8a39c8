/** The gateway's answer to `watch` and `remind`: what the person is shown, whatever the model says. */

import { ENGLISH, type Phrases } from "../phrases/phrases.ts";
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
 * @property quiet the home's quiet hours @property changes it can be changed from here
 */
export type WatchFacts = {
  place: string;
  to: string;
  then?: string | undefined;
  now?: { value: unknown; at: number } | undefined;
  checked?: number | undefined;
  quiet?: TimeWindow | undefined;
  changes?: boolean | undefined;
};

/** @param now epoch ms */
export function watchConfirmation(
  rule: WatchRule,
  facts: WatchFacts,
  now: number,
  phrases: Phrases = ENGLISH,
): string {
  const details = phrases.parts(
    phrases.say("whenIs", { condition: conditionText(rule, phrases) }),
    againText(rule, phrases),
    hoursText(rule, facts.quiet, phrases),
    thenText(rule, facts.then, phrases),
  );
  const { checked } = facts;
  return phrases.sentences(
    phrases.say("watching", {
      place: plainText(facts.place, PLACE_MAX),
      to: plainText(facts.to, PLACE_MAX),
      name: plainText(rule.name, RULE_NAME_MAX),
      details,
    }),
    nowText(rule, facts.now, now, phrases),
    checked === undefined ? "" : phrases.say("checkedEvery", { span: spanText(checked, phrases) }),
    facts.changes && isSilentForOwn(rule) ? phrases.say("ownChangesSilent") : "",
  );
}

/** With the next three times. @param now epoch ms */
export function reminderConfirmation(
  reminder: Reminder,
  zone: string,
  to: string,
  now: number,
  phrases: Phrases = ENGLISH,
): string {
  const { schedule, text } = reminder;
  const times = nextTimes(zone, schedule, now);
  const isSingle = schedule.kind === "instant" || schedule.kind === "date";
  const next = times.map((at) => timeText(at, zone, undefined, phrases)).join("; ");
  return phrases.sentences(
    phrases.say(reminder.do === "brief" ? "briefs" : "reminds", {
      to: plainText(to, PLACE_MAX),
      when: scheduleText(schedule, zone, times[0], phrases),
      zone,
      text: plainText(text, REMINDER_TEXT_MAX),
    }),
    isSingle ? "" : phrases.say("nextTimes", { times: next }),
  );
}

/** True if what our own command did does not fire it. A state that has to last is told, also where the command caused it. */
export function isSilentForOwn({ tell_own, is, hold_ms }: WatchRule): boolean {
  return !tell_own && is !== "happens" && (is === "changes" || hold_ms === 0);
}

function againText({ repeat, cooldown_ms }: WatchRule, phrases: Phrases): string {
  if (repeat === "once") return phrases.say("once");
  if (repeat === "until_ack") return phrases.say("untilAnswered");
  return cooldown_ms === 0 ? "" : phrases.say("atMostEvery", { span: spanText(cooldown_ms, phrases) });
}

function thenText({ then_to }: WatchRule, then = "", phrases: Phrases): string {
  if (!then_to) return "";
  return phrases.say("thenTo", {
    to: plainText(then, PLACE_MAX),
    span: spanText(then_to.after_ms, phrases),
  });
}

function hoursText(
  { severity, only_between: hours }: WatchRule,
  quiet: TimeWindow | undefined,
  phrases: Phrases,
): string {
  const between =
    hours && phrases.say("onlyBetween", { from: clockText(hours.from), to: clockText(hours.to) });
  const night =
    severity === "critical"
      ? phrases.say("alsoAtNight")
      : quiet && phrases.say("notInQuietHours", { hours: windowText(quiet) });
  return phrases.parts(between ?? "", night ?? "");
}

function nowText(rule: WatchRule, last: WatchFacts["now"], now: number, phrases: Phrases): string {
  if (rule.is === "happens") return "";
  const known = last && readValue({ value: last.value }, rule.type, rule.unit);
  if (last === undefined || known === undefined) return phrases.say("valueNotKnown");
  const words = valueText(known, rule, phrases);
  const age = now - last.at;
  const value =
    age > FRESH_MS ? phrases.say("valueAgo", { value: words, span: spanText(age, phrases) }) : words;
  if (!isTrue(rule, known) || isMomentary(rule)) return phrases.say("now", { value });
  const { hold_ms, only_between } = rule;
  const when =
    only_between && !isInside(only_between, now)
      ? phrases.say("fromTimeOn", { time: clockText(only_between.from) })
      : hold_ms === 0
        ? phrases.say("atOnce")
        : phrases.say("inSpan", { span: spanText(hold_ms, phrases) });
  return phrases.say("nowAlready", { value, when });
}
