/** Writes what a watch tells: plain text, with the time of the event by the home's clock. */

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
 */
export type Telling = { zone: string; now: number };

/** A notice with what its words need. @property place the device and its area, as people call them */
export type RuleNotice = { rule: WatchRule; place: string; notice: Notice };

/** The text of one message. Several notices become a list. @param quiet they come from the quiet hours that ended now */
export function messageText(notices: readonly RuleNotice[], telling: Telling, quiet = false): string {
  const [only] = notices;
  if (only && notices.length === 1 && !quiet) return noticeText(only, telling);
  const shown = notices.slice(0, LINES_MAX).map((one) => `• ${lineWords(one, telling)}`);
  const more = notices.length - shown.length;
  return [
    quiet ? "☀ During the quiet hours:" : "Several at once:",
    ...shown,
    ...(more > 0 ? [`• and ${more} more`] : []),
  ].join("\n");
}

/** One notice as a message of its own, with the words of its maker. */
export function noticeText(told: RuleNotice, telling: Telling): string {
  const { rule, notice } = told;
  const isEnd = notice.kind === "recovery" || notice.kind === "back";
  const mark = isEnd ? "✓" : MARKS[rule.severity];
  const says = notice.kind === "firing" || notice.kind === "muted" || notice.kind === "repeat";
  const say = says && rule.say !== undefined ? `\n${plainText(rule.say, SAY_MAX)}` : "";
  return `${mark} ${lineWords(told, telling)}${lateText(notice, telling)}${say}`;
}

/** One notice on one line. */
function lineWords({ rule, place, notice }: RuleNotice, telling: Telling): string {
  const name = plainText(rule.name, RULE_NAME_MAX);
  const at = ` ${plainText(place, PLACE_MAX)}.`;
  const time = (when: number) => timeText(when, telling.zone, telling.now);
  switch (notice.kind) {
    case "firing":
      return `${name}: ${firedText(rule, notice, telling)}${at}`;
    case "muted":
      return `${name}: ${firedText(rule, notice, telling)}${at} It keeps coming and going, so this watch is silent until ${time(notice.until)}, or until it settles.`;
    case "repeat": {
      const { firing, more, lastAt } = notice;
      const since = firing.since ?? firing.at;
      const again =
        more > 0 ? ` ${more === 1 ? "Once more" : `${more} times more`}, last at ${time(lastAt)}.` : "";
      return isMomentary(rule)
        ? `${name}, at ${time(firing.at)}: nobody has answered yet.${again}${at}`
        : `${name}: still so, since ${time(since)} (${spanText(telling.now - since)}). Nobody has answered yet.${at}`;
    }
    case "escalation":
      return `${name}: ${firingText(rule, notice.firing, telling)}${at} Nobody answered for ${spanText(notice.afterMs)}, so this comes to you.`;
    case "recovery":
      return `${name}: ${endText(rule, notice.firing, telling)}${at}`;
    case "unknown":
      return `${name}: no value${notice.since === undefined ? "" : ` since ${time(notice.since)}`}, so it cannot be watched.${at}`;
    case "back": {
      const value = notice.value === undefined ? "" : `: ${valueText(notice.value, rule)}`;
      return `${name}: there are values again at ${time(notice.at)}${value}.${at}`;
    }
  }
}

type Fired = Extract<Notice, { kind: "firing" | "muted" }>;

/** One firing, or how many there were. */
function firedText(rule: WatchRule, { firing, count, firstAt }: Fired, telling: Telling): string {
  if (count === 1) return firingText(rule, firing, telling);
  const time = (when: number) => timeText(when, telling.zone, telling.now);
  const end = isMomentary(rule) ? "" : firing.over ? " Over now." : " It goes on.";
  return `${count} times since ${time(firstAt)}, last at ${time(firing.at)}.${end}`;
}

/** `−11.4 °C at 03:12 (limit −15 °C for 10 min).` */
function firingText(rule: WatchRule, firing: Firing, telling: Telling): string {
  const time = (when: number) => timeText(when, telling.zone, telling.now);
  const { at, since = at, over } = firing;
  if (over) return `from ${time(since)} to ${time(over.until ?? over.at)}.`;
  if (rule.is === "offline" || rule.is === "online") return `${rule.is} since ${time(since)}.`;
  const value = firing.value === undefined ? "" : `${valueText(firing.value, rule)} `;
  // A rule that was changed since may have had another limit then.
  const limit = (firing.version ?? rule.version) === rule.version ? limitText(rule) : "";
  return `${value}at ${time(at)}${limit}.`;
}

function limitText({ is, value, unit, hold_ms }: WatchRule): string {
  if (typeof value !== "number" || (is !== "above" && is !== "below")) return "";
  const hold = hold_ms === 0 ? "" : ` for ${spanText(hold_ms)}`;
  return ` (limit ${valueText(value, { unit })}${hold})`;
}

/** `over at 03:51, −16 °C. It lasted 49 min.` */
function endText(rule: WatchRule, { at, since = at, over }: Firing, telling: Telling): string {
  const end = over?.until ?? over?.at ?? telling.now;
  const isPresence = rule.is === "offline" || rule.is === "online";
  const value = over?.value === undefined || isPresence ? "" : `, ${valueText(over.value, rule)}`;
  return `over at ${timeText(end, telling.zone, telling.now)}${value}. It lasted ${spanText(end - since)}.`;
}

function lateText(notice: Notice, { zone, now }: Telling): string {
  const isLate = notice.kind === "firing" && now - notice.firing.at > LATE_MS;
  return isLate ? ` Told late, at ${timeText(now, zone, now)}.` : "";
}
