/** What a watch waits for, in words. */
import { deviceText, plainText } from "./plain-text.ts";
import { figureText, spanText } from "./time-text.ts";
import type { Value } from "./value.ts";
import { isMomentary, PRESENCE, type WatchRule } from "./watch-rule.ts";

const UNIT_MAX = 32;
const READING_MAX = 64;

/** A value of the rule: a figure with its unit, a boolean in its words, or the device's own text. */
export function valueText(
  value: Value,
  { unit, words }: { unit?: string | undefined; words?: WatchRule["words"] },
): string {
  if (typeof value === "string") return deviceText(value);
  if (typeof value === "boolean" && words) return plainText(value ? words.yes : words.no, READING_MAX);
  return figureText(value, unit === undefined ? undefined : plainText(unit, UNIT_MAX));
}

/** `temperature is above −15 °C for 10 min`. */
export function conditionText(rule: WatchRule): string {
  const { is, value, hold_ms } = rule;
  const reading = readingText(rule);
  const limit = value === undefined ? "" : ` ${valueText(value, rule)}`;
  const hold = isMomentary(rule) || hold_ms === 0 ? "" : ` for ${spanText(hold_ms)}`;
  if (is === "offline" || is === "online") return `it is ${is}${hold}`;
  if (is === "happens") return limit === "" ? `${reading} has an event` : `${reading} says${limit}`;
  if (is === "changes") return `${reading} changes`;
  const verb = { above: "is above", below: "is below", equal: "is", not_equal: "is not" }[is];
  return `${reading} ${verb}${limit}${hold}`;
}

function readingText({ reading, field }: WatchRule): string {
  const name = plainText(reading, READING_MAX);
  return reading === PRESENCE || field === undefined ? name : `${name} (${plainText(field, READING_MAX)})`;
}
