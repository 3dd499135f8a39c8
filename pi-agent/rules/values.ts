/**
 * The values of a tool's result that a rule can watch, each under a name that stays the same from one call to the next:
 * `used_percent` of `/` is `/.used_percent`. The list of what can be watched and each reading of a rule come from here.
 */

import { isObject } from "@edgecall/core/protocol/is-object.ts";
import type { ValueType } from "@edgecall/core/rules/value.ts";
import { type ToolResult, textOf } from "@edgecall/core/tools/contract.ts";
import { NO_OUTPUT } from "../output/captured-output.ts";

/** @property field absent: the result is this one value */
export type NamedValue = { field?: string; value: string | number | boolean; unit?: string };

const VALUES_MAX = 64;
const DEPTH_MAX = 4;
const ITEMS_MAX = 32;
const FIELD_MAX_CHARS = 128;
/** A longer text is no value but a report. */
const TEXT_MAX_CHARS = 100;
/** The members by which an item of a list is named: its place there is not the same each time. */
const NAMES = ["name", "id", "path", "unit", "interface", "label"];
/** Endings of names that say the unit. */
const UNITS: ReadonlyArray<readonly [RegExp, string]> = [
  [/(^|_)celsius$/, "°C"],
  [/(^|_)fahrenheit$/, "°F"],
  [/(^|_)percent$/, "%"],
  [/(^|_)bytes$/, "B"],
  [/(^|_)mhz$/, "MHz"],
  [/(^|_)ms$/, "ms"],
  [/(^|_)volts?$/, "V"],
  [/(^|_)(seconds|s)$/, "s"],
];
/** Of a skill's program: how it ended, not what it measured. */
const ABOUT_THE_PROGRAM = new Set(["exit_code", "stderr", "status", "success"]);

/** @param program whether the tool is a program of a skill: its JSON, or else its whole text, has the values */
export function valuesIn(result: ToolResult, program: boolean): NamedValue[] {
  if (result.fault) return [];
  const { details = {} } = result;
  const content = program ? details.data : details;
  const found: NamedValue[] = [];
  if (isObject(content)) collect(content, [], found);
  else if (program) found.push(...wholeText(textOf(result)));
  return found;
}

export function typeOf({ value }: NamedValue): ValueType {
  return typeof value === "string" ? "text" : (typeof value as "number" | "boolean");
}

/** A number and its unit. A unit right behind the number has no digits: `0x1F` and `1.2.3` are texts. */
const MEASURED = /^([+-]?\d+(?:\.\d+)?)(?:\s+([\p{L}%°\p{Sc}]\S{0,15})|([\p{L}%°\p{Sc}][^\s\d]{0,15}))?$/u;

/** A program that prints one line has that as its value: `21.4`, or `21.4 °C`. */
function wholeText(text: string): NamedValue[] {
  const line = text.trim();
  if (line === "" || line === NO_OUTPUT || line.length > TEXT_MAX_CHARS || line.includes("\n")) return [];
  const [, digits, spaced, unit = spaced ?? ""] = MEASURED.exec(line) ?? [];
  // Without a unit, a number that would be written otherwise is a text: 007, a version 2.10.
  const isText = digits === undefined || (unit === "" && String(Number(digits)) !== digits);
  if (isText) return [{ value: line }];
  return [{ value: Number(digits), ...(unit !== "" && { unit }) }];
}

function collect(
  content: Readonly<Record<string, unknown>>,
  path: readonly string[],
  found: NamedValue[],
): void {
  const pair = pairOf(content);
  if (pair) {
    add(found, path, pair.value, pair.unit);
    return;
  }
  for (const [name, value] of Object.entries(content)) {
    if (path.length === 0 && ABOUT_THE_PROGRAM.has(name)) continue;
    if (Array.isArray(value)) collectItems(value, path, found);
    else if (isObject(value) && path.length < DEPTH_MAX) collect(value, [...path, name], found);
    else if (isValue(value)) add(found, [...path, name], value, unitOf(name));
  }
}

/** Items without a name are left out. The list's own name is none of theirs: `cpu.celsius`, not `sensors.cpu.celsius`. */
function collectItems(items: readonly unknown[], path: readonly string[], found: NamedValue[]): void {
  for (const item of items.slice(0, ITEMS_MAX)) {
    if (!isObject(item)) continue;
    const names = isValue(item.value) ? NAMES.filter((one) => one !== "unit") : NAMES;
    const key = names.find((one) => typeof item[one] === "string" && item[one] !== "");
    if (key === undefined || path.length >= DEPTH_MAX) continue;
    const { [key]: name, ...rest } = item;
    collect(rest, [...path, String(name)], found);
  }
}

/** `{"value": 21.4, "unit": "°C"}` is one value. */
function pairOf(
  content: Readonly<Record<string, unknown>>,
): { value: NamedValue["value"]; unit?: string } | undefined {
  const { value, unit } = content;
  if (!isValue(value)) return undefined;
  return { value, ...(typeof unit === "string" && unit !== "" && { unit: unit.slice(0, 32) }) };
}

function add(found: NamedValue[], path: readonly string[], value: NamedValue["value"], unit?: string): void {
  const field = path.join(".");
  if (field.length > FIELD_MAX_CHARS || found.length >= VALUES_MAX) return;
  if (found.some((one) => (one.field ?? "") === field)) return;
  found.push({ ...(field !== "" && { field }), value, ...(unit !== undefined && { unit }) });
}

function unitOf(name: string): string | undefined {
  return UNITS.find(([pattern]) => pattern.test(name))?.[1];
}

function isValue(value: unknown): value is NamedValue["value"] {
  if (typeof value === "number") return Number.isFinite(value);
  if (typeof value === "string")
    return value !== "" && value.length <= TEXT_MAX_CHARS && !value.includes("\n");
  return typeof value === "boolean";
}
