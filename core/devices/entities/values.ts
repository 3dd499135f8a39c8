/** Values: read from a state, compared with what was asked, and told in words. */
import { numberOf } from "../discovery/fields.ts";
import type { Matches, SlotValue } from "./entity.ts";

/** Characters of a text that may be `true` or `false`. */
const WORD_MAX = 50;

/** The print of a value that is not known, in a template. */
export const NONE = "None";

/**
 * Tells whether a state is what the config names. Both are texts; Python's words for booleans and JSON's count as the same, since a
 * message is JSON, and a template prints Python.
 */
export function matchesPayload(text: string, payload: string): boolean {
  if (text === payload) return true;
  if (text.length > WORD_MAX || payload.length > WORD_MAX) return false;
  const [a, b] = [text.trim(), payload.trim()].map((one) => one.toLowerCase());
  return a === b && (a === "true" || a === "false");
}

/** The parser of a state that has two payloads. */
export function onOff(on: string, off: string): (text: string) => SlotValue | undefined {
  return (text) => {
    if (matchesPayload(text, on)) return true;
    if (matchesPayload(text, off)) return false;
    return text === NONE ? null : undefined;
  };
}

export function numeric(text: string): SlotValue | undefined {
  return text.trim() === NONE ? null : numberOf(text);
}

/** One of a list; what is not in it says nothing. */
export function oneOf(options: readonly string[]): (text: string) => SlotValue | undefined {
  const known = new Set(options);
  const words = options.filter((option) => /^\s{0,9}(?:true|false)\s{0,9}$/i.test(option));
  return (text) => {
    if (text === NONE) return null;
    return known.has(text) ? text : words.find((word) => matchesPayload(text, word));
  };
}

export function anyText(text: string): SlotValue | undefined {
  return text === NONE ? null : text;
}

export const same: Matches = (asked, reported) => asked === reported;

/**
 * A number within the tolerance or 2 %. A value that had been there before counts only when it is exactly what was asked: a
 * device that reports its old value has not obeyed.
 */
export function near(tolerance: number): Matches {
  return (asked, reported, before) => {
    if (typeof asked !== "number" || typeof reported !== "number") return false;
    const distance = Math.abs(asked - reported);
    if (distance < 1e-6) return true;
    return distance <= Math.max(tolerance, Math.abs(asked) * 0.02) && reported !== before;
  };
}

export function onOffWords(value: SlotValue): string {
  return value === null ? "unknown" : value === true ? "on" : value === false ? "off" : plain(value);
}

/** A value and its unit. `%` and `°C` have a space before them. */
export function withUnit(unit: string | undefined, decimals?: number): (value: SlotValue) => string {
  return (value) => {
    if (typeof value !== "number") return plain(value);
    const text = decimals === undefined ? plain(value) : value.toFixed(Math.min(Math.max(decimals, 0), 10));
    return unit === undefined ? text : `${text} ${unit}`;
  };
}

export function plain(value: SlotValue): string {
  if (value === null) return "unknown";
  // Sums of floats have digits that nobody measured.
  if (typeof value === "number") return String(Number(value.toPrecision(7)));
  return Array.isArray(value) ? value.map((one) => plain(one)).join(", ") : String(value);
}

/** A value of a range of the device's own, as a percentage from its closed or lowest end. */
export function toPercent(value: number, low: number, high: number): number {
  return high === low ? 0 : Math.min(100, Math.max(0, Math.round(((value - low) * 100) / (high - low))));
}

export function fromPercent(percent: number, low: number, high: number): number {
  return Math.round(low + ((high - low) * percent) / 100);
}
