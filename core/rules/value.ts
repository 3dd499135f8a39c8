/** Values as devices give them, brought to the type that a rule compares. What is not such a value counts as unknown. */
import { VALUE_MAX_CHARS, type VALUE_TYPES } from "../protocol/rules.ts";
import { graphemeCut } from "../text/cut.ts";

export type Value = number | string | boolean;

export type ValueType = (typeof VALUE_TYPES)[number];

/** Texts by which devices and programs say that there is no value. */
const MISSING: ReadonlySet<string> = new Set([
  "",
  "unavailable",
  "unknown",
  "none",
  "null",
  "undefined",
  "nan",
  "n/a",
]);
const YES: ReadonlySet<string> = new Set(["true", "on", "yes", "1"]);
const NO: ReadonlySet<string> = new Set(["false", "off", "no", "0"]);

/** A number as text: either sign, and a point or a comma before the decimals. The rest would be its unit. */
const NUMBER = /^([+\-−]?)(\d+(?:[.,]\d+)?(?:e[+-]?\d{1,3})?)\s*(.*)$/iu;

/** A value with the unit that its device names, if any. */
export type RawValue = { value: unknown; unit?: string | undefined };

/**
 * Reads a value once, in the rule's type.
 * @param unit the rule's: a value in another one is not comparable
 * @returns undefined when there is no such value
 */
export function readValue(raw: RawValue, type: ValueType, unit: string | undefined): Value | undefined {
  if (unit !== undefined && raw.unit !== undefined && raw.unit.trim() !== unit.trim()) return undefined;
  if (typeof raw.value === "string" && isMissing(raw.value)) return undefined;
  if (type === "number") return readNumber(raw.value, unit);
  if (type === "boolean") return readBoolean(raw.value);
  return readText(raw.value);
}

/** Tells whether the text says that there is no value. */
export function isMissing(text: string): boolean {
  return MISSING.has(text.trim().toLowerCase());
}

/** Texts are compared without regard to case and space around them. */
export function isEqual(a: Value, b: Value): boolean {
  if (typeof a === "string" && typeof b === "string") return a.toLowerCase() === b.toLowerCase();
  return a === b;
}

function readNumber(value: unknown, unit: string | undefined): number | undefined {
  if (typeof value === "number") return Number.isFinite(value) ? value : undefined;
  if (typeof value !== "string") return undefined;
  const [, sign = "", digits = "", rest = ""] = NUMBER.exec(value.trim()) ?? [];
  if (digits === "" || (rest !== "" && rest !== unit?.trim())) return undefined;
  const number = Number(digits.replace(",", "."));
  if (!Number.isFinite(number)) return undefined;
  return sign === "" || sign === "+" ? number : -number;
}

function readBoolean(value: unknown): boolean | undefined {
  const word = readText(value)?.toLowerCase() ?? "";
  if (YES.has(word)) return true;
  return NO.has(word) ? false : undefined;
}

function readText(value: unknown): string | undefined {
  if (!["string", "number", "boolean"].includes(typeof value)) return undefined;
  const text = String(value).trim();
  return text.slice(0, graphemeCut(text, VALUE_MAX_CHARS));
}
