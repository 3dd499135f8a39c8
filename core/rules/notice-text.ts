/** Writes what a watch tells: plain text, with the time of the event by the home's clock. */

import { ENGLISH, type Phrases } from "../phrases/phrases.ts";
import { MINUTE_MS } from "../time/zone.ts";
import { valueText } from "./condition-text.ts";
import type { Firing, Notice } from "./delivery.ts";
import { plainText } from "./plain-text.ts";
import { spanText, timeText } from "./time-text.ts";
import { isMomentary, RULE_NAME_MAX, SAY_MAX, type WatchRule } from "./watch-rule.ts";

const MARKS = { info: "🔔", warning: "⚠", critical: "🚨" } as const;
const PLACE_MAX = 120;
/** A message that comes later than this after its event says so. */
const LATE_MS = 5 * MINUTE_MS;
/** Lines of a message that gathers several. */
const LINES_MAX = 20;

/**
 * @property zone the home's
 * @property now when it is said, epoch ms
 * @property phrases the language; absent: English
 */
export type NoticeForm = { zone: string; now: number; phrases?: Phrases };

/** A notice with what its words need. @property place the device and its area, as people call them */
export type RuleNotice = { rule: WatchRule; place: string; notice: Notice };

/** The text of one message. Several notices become a list. @param quiet they come from the quiet hours that ended now */
export function messageText(notices: readonly RuleNotice[], telling: NoticeForm, quiet = false): string {
  const { phrases } = written(telling);
  const [only] = notices;
  if (only && notices.length === 1 && !quiet) return noticeText(only, telling);
  const shown = notices.slice(0, LINES_MAX).map((one) => `• ${lineText(one, written(telling))}`);
  const more = notices.length - shown.length;
  return [
    phrases.say(quiet ? "quietHoursOver" : "severalAtOnce"),
    ...shown,
    ...(more > 0 ? [`• ${phrases.say("andMore", { count: more })}`] : []),
  ].join("\n");
}

/** One notice as a message of its own, with the words of its maker. */
export function noticeText(told: RuleNotice, telling: NoticeForm): string {
  const { rule, notice } = told;
  const { phrases } = written(telling);
  const isEnd = notice.kind === "recovery" || notice.kind === "back";
  const mark = isEnd ? "✓" : MARKS[rule.severity];
  const says = notice.kind === "firing" || notice.kind === "muted" || notice.kind === "repeat";
  const say = says && rule.say !== undefined ? `\n${plainText(rule.say, SAY_MAX)}` : "";
  const text = phrases.sentences(lineText(told, written(telling)), lateText(notice, written(telling)));
  return `${mark} ${text}${say}`;
}

type Written = Required<NoticeForm>;

function written(telling: NoticeForm): Written {
  return { phrases: ENGLISH, ...telling };
}

function timeOf(when: number, { zone, now, phrases }: Written): string {
  return timeText(when, zone, now, phrases);
}

/** One notice on one line. */
function lineText({ rule, place, notice }: RuleNotice, telling: Written): string {
  const { phrases } = telling;
  const name = plainText(rule.name, RULE_NAME_MAX);
  const at = phrases.say("sentence", { text: plainText(place, PLACE_MAX) });
  const named = (text: string, ...more: string[]) =>
    phrases.sentences(phrases.say("named", { name, text }), ...more);
  switch (notice.kind) {
    case "firing":
      return named(firedText(rule, notice, telling), at);
    case "muted": {
      const time = timeOf(notice.until, telling);
      return named(firedText(rule, notice, telling), at, phrases.say("flaps", { time }));
    }
    case "repeat":
      return repeatText(rule, name, notice, at, telling);
    case "escalation": {
      const span = spanText(notice.afterMs, phrases);
      return named(firingText(rule, notice.firing, telling), at, phrases.say("escalated", { span }));
    }
    case "recovery":
      return named(endText(rule, notice.firing, telling), at);
    case "unknown": {
      const { since } = notice;
      if (since === undefined) return named(phrases.say("noValue"), at);
      return named(phrases.say("noValueSince", { time: timeOf(since, telling) }), at);
    }
    case "back": {
      const time = timeOf(notice.at, telling);
      if (notice.value === undefined) return named(phrases.say("valuesAgain", { time }), at);
      const value = valueText(notice.value, rule, phrases);
      return named(phrases.say("valuesAgainAre", { time, value }), at);
    }
  }
}

function repeatText(
  rule: WatchRule,
  name: string,
  { firing, more, lastAt }: Extract<Notice, { kind: "repeat" }>,
  at: string,
  telling: Written,
): string {
  const { phrases, now } = telling;
  if (!isMomentary(rule)) {
    const since = firing.since ?? firing.at;
    const span = spanText(now - since, phrases);
    const text = phrases.say("stillSo", { time: timeOf(since, telling), span });
    return phrases.sentences(phrases.say("named", { name, text }), at);
  }
  const again = more > 0 ? phrases.say("timesMore", { count: more, time: timeOf(lastAt, telling) }) : "";
  return phrases.sentences(
    phrases.say("unansweredSince", { name, time: timeOf(firing.at, telling) }),
    again,
    at,
  );
}

type Fired = Extract<Notice, { kind: "firing" | "muted" }>;

/** One firing, or how many there were. */
function firedText(rule: WatchRule, { firing, count, firstAt }: Fired, telling: Written): string {
  if (count === 1) return firingText(rule, firing, telling);
  const { phrases } = telling;
  const times = phrases.say("timesSince", {
    count,
    first: timeOf(firstAt, telling),
    last: timeOf(firing.at, telling),
  });
  if (isMomentary(rule)) return times;
  return phrases.sentences(times, phrases.say(firing.over ? "isOverNow" : "goesOn"));
}

/** `−11.4 °C at 03:12 (limit −15 °C for 10 min).` */
function firingText(rule: WatchRule, firing: Firing, telling: Written): string {
  const { phrases } = telling;
  const { at, since = at, over } = firing;
  if (over)
    return phrases.say("wasFromTo", {
      from: timeOf(since, telling),
      to: timeOf(over.until ?? over.at, telling),
    });
  if (rule.is === "offline") return phrases.say("offlineSince", { time: timeOf(since, telling) });
  if (rule.is === "online") return phrases.say("onlineSince", { time: timeOf(since, telling) });
  // A state that had to last begins before the rule fires.
  if (typeof firing.value === "boolean" && since < at)
    return phrases.say("firedSince", {
      value: valueText(firing.value, rule, phrases),
      time: timeOf(since, telling),
    });
  const time = timeOf(at, telling);
  // A rule that was changed since may have had another limit then.
  const limit = (firing.version ?? rule.version) === rule.version ? limitText(rule, phrases) : undefined;
  if (firing.value === undefined)
    return limit === undefined
      ? phrases.say("firedAt", { time })
      : phrases.say("firedAtLimit", { time, limit });
  const value = valueText(firing.value, rule, phrases);
  return limit === undefined
    ? phrases.say("firedValue", { value, time })
    : phrases.say("firedValueLimit", { value, time, limit });
}

function limitText({ is, value, unit, hold_ms }: WatchRule, phrases: Phrases): string | undefined {
  if (typeof value !== "number" || (is !== "above" && is !== "below")) return undefined;
  const limit = valueText(value, { unit }, phrases);
  return hold_ms === 0 ? limit : phrases.say("limitFor", { limit, span: spanText(hold_ms, phrases) });
}

/** `over at 03:51, −16 °C. It lasted 49 min.` */
function endText(rule: WatchRule, { at, since = at, over }: Firing, telling: Written): string {
  const { phrases, now } = telling;
  const end = over?.until ?? over?.at ?? now;
  const isPresence = rule.is === "offline" || rule.is === "online";
  const time = timeOf(end, telling);
  const span = spanText(end - since, phrases);
  if (over?.value === undefined || isPresence) return phrases.say("overAt", { time, span });
  return phrases.say("overAtValue", { time, value: valueText(over.value, rule, phrases), span });
}

function lateText(notice: Notice, telling: Written): string {
  const { now, phrases } = telling;
  const isLate = notice.kind === "firing" && now - notice.firing.at > LATE_MS;
  return isLate ? phrases.say("toldLate", { time: timeOf(now, telling) }) : "";
}
