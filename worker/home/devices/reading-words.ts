/**
 * Readings of hosted devices in the answers of find_agents, and the condition by which they are chosen there: `battery < 20`,
 * `window = open`. Pure. Free text is left out: whoever wrote it may be anybody, and a list must taint nothing.
 */
import { stem, wordsOf } from "@edgecall/core/agents/words.ts";
import type { Reading } from "@edgecall/core/protocol/devices.ts";
import { isLabel } from "@edgecall/core/text/label.ts";
import { ago } from "../../api/roster.ts";

/** A battery of so much counts as low where a device tells percents. */
const LOW_BATTERY_PERCENT = 20;

/** @property value lower case @property number of `value`, if it is one */
export type Condition = {
  words: readonly string[];
  compare: "<" | "<=" | ">" | ">=" | "=" | undefined;
  value: string;
  number: number | undefined;
};

const CONDITION = /^(.*?)(<=|>=|<|>|==?|\b(?:is|below|under|above|over)\b)(.*)$/i;
const COMPARES: Readonly<Record<string, Condition["compare"]>> = {
  "==": "=",
  is: "=",
  below: "<",
  under: "<",
  above: ">",
  over: ">",
};

/** Reads `battery < 20 %`. Words without a comparison ask for that reading, or for a state: `battery`, `window open`. */
export function readCondition(text: string): Condition {
  const [, left = text, sign = "", right = ""] = CONDITION.exec(text) ?? [];
  const value = right.trim().toLowerCase();
  const number = /^[-+]?\d+(?:[.,]\d+)?/.exec(value)?.[0].replace(",", ".");
  const compare = COMPARES[sign.toLowerCase()] ?? (sign === "" ? undefined : (sign as Condition["compare"]));
  return {
    words: stemsOf(left),
    compare,
    value,
    number: number === undefined ? undefined : Number(number),
  };
}

/** @param device the device's own words: id and line */
export function fits(condition: Condition, reading: Reading, device: readonly string[]): boolean {
  if (!isShown(reading)) return false;
  const own = stemsOf(`${reading.name} ${reading.class ?? ""} ${reading.kind.replace("_", " ")}`);
  const { words, compare, value, number } = condition;
  if (compare === undefined) return fitsWords(words, reading, [...own, ...device], own);
  const isNumeric = typeof reading.value === "number" && number !== undefined;
  if (!words.every((word) => own.includes(word) || device.includes(word))) return false;
  // The words of a device tell of which of its numbers nothing.
  if ((isNumeric || compare !== "=") && !words.some((word) => own.includes(word))) return false;
  if (compare === "=" && !isNumeric) return isState(reading, value);
  return isNumeric && compared(Number(reading.value), compare, Number(number));
}

function fitsWords(
  words: readonly string[],
  reading: Reading,
  all: readonly string[],
  own: readonly string[],
): boolean {
  const states = stemsOf(reading.text);
  const isMeant = (word: string) =>
    all.includes(word) || states.includes(word) || (word === "low" && isState(reading, "low"));
  return words.some((word) => own.includes(word) || states.includes(word)) && words.every(isMeant);
}

function isState({ text, value, class: of, unit }: Reading, state: string): boolean {
  if (text.toLowerCase() === state || String(value).toLowerCase() === state) return true;
  if (typeof value === "boolean") return state === (value ? "on" : "off");
  return state === "low" && of === "battery" && unit === "%" && Number(value) <= LOW_BATTERY_PERCENT;
}

function compared(value: number, compare: Condition["compare"], to: number): boolean {
  if (compare === "<") return value < to;
  if (compare === "<=") return value <= to;
  if (compare === ">") return value > to;
  return compare === ">=" ? value >= to : value === to;
}

/** @returns "Temperature 21.4 °C (3 min ago)"; "battery 2: 11 % (3 min ago)", since the number is the name's */
export function readingWords(reading: Reading, now: number): string {
  const { name, text, at, unavailable } = reading;
  const label = isLabel(name) ? name : (reading.class ?? reading.kind);
  const age = at === null ? "age unknown" : ago(at, now);
  return `${label}${/\d$/.test(label) ? ":" : ""} ${text} (${unavailable ? "unavailable, " : ""}${age})`;
}

/** As many of one device as have `max` characters. */
export function listedReadings(readings: readonly Reading[], now: number, max: number): string[] {
  const words: string[] = [];
  let chars = 0;
  for (const reading of readings.filter(isShown)) {
    const next = readingWords(reading, now);
    chars += next.length;
    if (chars > max && words.length > 0) return [...words, "…"];
    words.push(next);
  }
  return words;
}

/** Its value is a number, a boolean or one of a list, and its words are labels. */
function isShown({ tainted, text, value, class: of }: Reading): boolean {
  return !tainted && value !== null && isLabel(text) && (of === undefined || isLabel(of));
}

export function stemsOf(text: string): string[] {
  return wordsOf(text).map(stem);
}
