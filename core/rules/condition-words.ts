/** What a watch waits for, in words. */
import { deviceWords, plainWords } from "./plain-words.ts";
import { figureWords, spanWords } from "./time-words.ts";
import type { Value } from "./value.ts";
import { isMomentary, PRESENCE, type WatchRule } from "./watch-rule.ts";

const UNIT_MAX = 32;
const READING_MAX = 64;

/** A value of the rule: a figure with its unit, a boolean in its words, or the device's own text. */
export function valueWords(
  value: Value,
  { unit, words }: { unit?: string | undefined; words?: WatchRule["words"] },
): string {
  if (typeof value === "string") return deviceWords(value);
  if (typeof value === "boolean" && words) return plainWords(value ? words.yes : words.no, READING_MAX);
  return figureWords(value, unit === undefined ? undefined : plainWords(unit, UNIT_MAX));
}

/** `temperature is above −15 °C for 10 min`. */
export function conditionWords(rule: WatchRule): string {
  const { is, value, hold_ms } = rule;
  const reading = readingWords(rule);
  const limit = value === undefined ? "" : ` ${valueWords(value, rule)}`;
  const hold = isMomentary(rule) || hold_ms === 0 ? "" : ` for ${spanWords(hold_ms)}`;
  if (is === "offline" || is === "online") return `it is ${is}${hold}`;
  if (is === "happens") return limit === "" ? `${reading} has an event` : `${reading} says${limit}`;
  if (is === "changes") return `${reading} changes`;
  const verb = { above: "is above", below: "is below", equal: "is", not_equal: "is not" }[is];
  return `${reading} ${verb}${limit}${hold}`;
}

function readingWords({ reading, field }: WatchRule): string {
  const name = plainWords(reading, READING_MAX);
  return reading === PRESENCE || field === undefined ? name : `${name} (${plainWords(field, READING_MAX)})`;
}
