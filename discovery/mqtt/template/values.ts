/**
 * Python's values in a template, and how Python prints and compares them. An int is a bigint, a float a number, a list an
 * array and a dict a Map by key, so a template never reaches an object of JavaScript.
 */
import type { TemplateBudget } from "./budget.ts";
import { TemplateProblem } from "./budget.ts";
import { Datetime, isoformat, Timedelta, timedeltaText } from "./dates.ts";

export type Value =
  | null
  | boolean
  | bigint
  | number
  | string
  | Value[]
  | Dict
  | Missing
  | Members
  | Datetime
  | Timedelta
  | Macro;

export class Tuple extends Array<Value> {}

/** A value that is not there: it prints as nothing, and a member of it is a problem. */
export class Missing {
  readonly what: string;

  constructor(what: string) {
    this.what = what;
  }

  /** The problem of a template that needs it. */
  problem(): TemplateProblem {
    return new TemplateProblem(`needs ${this.what}, which is not there`);
  }
}

/** A parameter that a call left out. */
export const OMITTED = new Missing("a parameter");

/** A namespace, or a loop's own variables. */
export class Members extends Map<string, Value> {}

/** A part of a template that is called like a function. */
export class Macro {
  readonly name: string;
  readonly call: (positional: readonly Value[], named: ReadonlyMap<string, Value>) => string;

  constructor(name: string, call: Macro["call"]) {
    this.name = name;
    this.call = call;
  }
}

export class Dict {
  readonly #entries = new Map<string, readonly [Value, Value]>();

  get size(): number {
    return this.#entries.size;
  }

  /** @param key its keyOf */
  get(key: string): Value | undefined {
    return this.#entries.get(key)?.[1];
  }

  /** Like Python's, it keeps the place and the key of an entry that was there. */
  set(key: Value, value: Value): void {
    const name = keyOf(key);
    this.#entries.set(name, [this.#entries.get(name)?.[0] ?? key, value]);
  }

  keys(): Value[] {
    return [...this.#entries.values()].map(([key]) => key);
  }

  entries(): Array<readonly [Value, Value]> {
    return [...this.#entries.values()];
  }
}

/** A key that is the same for values which Python takes for the same: 1, 1.0 and True. */
export function keyOf(value: Value): string {
  if (typeof value === "string") return `"${value}`;
  if (typeof value === "boolean") return value ? "1" : "0";
  if (typeof value === "number") return String(Number.isInteger(value) ? BigInt(value) : value);
  if (typeof value === "bigint" || value === null) return String(value);
  if (value instanceof Missing) return "missing";
  throw new TemplateProblem(`has ${typeName(value)} as a key`);
}

export function isNumber(value: Value): value is boolean | bigint | number {
  return typeof value === "bigint" || typeof value === "number" || typeof value === "boolean";
}

/** A boolean counts as 0 or 1. */
export function toNumber(value: boolean | bigint | number): bigint | number {
  return typeof value === "boolean" ? BigInt(value) : value;
}

function isTime(value: Value): value is Datetime | Timedelta {
  return value instanceof Datetime || value instanceof Timedelta;
}

export function typeName(value: Value): string {
  if (value === null) return "None";
  if (typeof value === "bigint") return "an int";
  if (typeof value === "number") return "a float";
  if (typeof value === "string") return "a text";
  if (typeof value === "boolean") return "a boolean";
  if (Array.isArray(value)) return value instanceof Tuple ? "a tuple" : "a list";
  if (value instanceof Dict) return "a dict";
  if (value instanceof Missing) return value.what;
  if (value instanceof Datetime) return "a time";
  if (value instanceof Macro) return "a macro";
  return value instanceof Timedelta ? "a duration" : "a namespace";
}

export function isTrue(value: Value): boolean {
  if (value instanceof Missing) return false;
  if (Array.isArray(value)) return value.length > 0;
  if (value instanceof Dict) return value.size > 0;
  if (value instanceof Timedelta) return value.micros !== 0;
  // A float that is not a number is true in Python.
  return typeof value === "number" ? value !== 0 : Boolean(value);
}

/** Python's str(). */
export function textOf(value: Value, budget: TemplateBudget): string {
  if (typeof value === "string") return budget.text(value);
  if (value instanceof Datetime) return isoformat(value, " ");
  if (value instanceof Timedelta) return timedeltaText(value);
  return value instanceof Missing ? "" : budget.text(reprOf(value, budget));
}

/** Python's repr(). */
function reprOf(value: Value, budget: TemplateBudget): string {
  budget.spend();
  if (value === null) return "None";
  if (typeof value === "boolean") return value ? "True" : "False";
  if (typeof value === "bigint") return String(value);
  if (typeof value === "number") return floatText(value);
  if (typeof value === "string") return budget.text(quoted(value));
  if (value instanceof Missing) return "Undefined";
  if (Array.isArray(value)) {
    const items = budget.deeper(() => Array.from(value, (item) => reprOf(item, budget))).join(", ");
    return value instanceof Tuple ? `(${items}${value.length === 1 ? "," : ""})` : `[${items}]`;
  }
  if (value instanceof Dict) {
    const pair = (pair: readonly [Value, Value]) => pair.map((one) => reprOf(one, budget)).join(": ");
    return `{${budget.deeper(() => value.entries().map(pair)).join(", ")}}`;
  }
  if (value instanceof Members) return "<Namespace>";
  if (value instanceof Macro) return `<Macro '${value.name}'>`;
  return `<${textOf(value, budget)}>`;
}

/** Python's repr() of a float: the shortest digits, with an exponent from 1e16 and below 1e-4. */
export function floatText(value: number): string {
  if (Number.isNaN(value)) return "nan";
  if (!Number.isFinite(value)) return value < 0 ? "-inf" : "inf";
  const [digits = "", power = ""] = value.toExponential().split("e");
  const exponent = Number(power);
  if (value !== 0 && (exponent < -4 || exponent >= 16))
    return `${digits}e${exponent < 0 ? "-" : "+"}${String(Math.abs(exponent)).padStart(2, "0")}`;
  const plain = Object.is(value, -0) ? "-0" : String(value);
  return Number.isInteger(value) ? `${plain}.0` : plain;
}

const ESCAPES: ReadonlyMap<string, string> = new Map([
  ["\\", "\\\\"],
  ["\n", "\\n"],
  ["\r", "\\r"],
  ["\t", "\\t"],
]);

function quoted(text: string): string {
  const quote = text.includes("'") && !text.includes('"') ? '"' : "'";
  const escaped = text.replace(/[\\\p{C}\p{Zl}\p{Zp}\p{Zs}']/gu, (letter) => {
    if (letter === " ") return letter;
    if (letter === "'") return quote === "'" ? "\\'" : letter;
    const code = letter.codePointAt(0) ?? 0;
    const hex = (sign: string, digits: number) => `\\${sign}${code.toString(16).padStart(digits, "0")}`;
    return ESCAPES.get(letter) ?? (code < 256 ? hex("x", 2) : code < 65_536 ? hex("u", 4) : hex("U", 8));
  });
  return quote + escaped + quote;
}

export function isEqual(a: Value, b: Value, budget: TemplateBudget): boolean {
  budget.spend();
  if (isNumber(a) && isNumber(b)) return compareNumbers(toNumber(a), toNumber(b)) === 0;
  if (Array.isArray(a) && Array.isArray(b)) {
    if (a.length !== b.length || a instanceof Tuple !== b instanceof Tuple) return false;
    return budget.deeper(() => a.every((item, at) => isEqual(item, b[at] ?? null, budget)));
  }
  if (a instanceof Dict && b instanceof Dict) {
    const same = ([key, value]: readonly [Value, Value]) => {
      const other = b.get(keyOf(key));
      return other !== undefined && isEqual(value, other, budget);
    };
    return a.size === b.size && budget.deeper(() => a.entries().every(same));
  }
  if (isTime(a) && isTime(b)) return a.constructor === b.constructor && a.micros === b.micros;
  if (typeof a === "string" && typeof b === "string" && a.length === b.length) budget.compares(a.length);
  return a === b || (a instanceof Missing && b instanceof Missing);
}

/** @returns below 0, 0, or above 0; NaN: neither is less */
export function compare(a: Value, b: Value, budget: TemplateBudget): number {
  budget.spend();
  if (isNumber(a) && isNumber(b)) return compareNumbers(toNumber(a), toNumber(b));
  if (typeof a === "string" && typeof b === "string") {
    budget.text(a.length < b.length ? a : b);
    return compareTexts(a, b);
  }
  if (isTime(a) && isTime(b) && a.constructor === b.constructor) return a.micros - b.micros;
  if (Array.isArray(a) && Array.isArray(b) && a instanceof Tuple === b instanceof Tuple) {
    const at = a.findIndex((item, place) => place >= b.length || !isEqual(item, b[place] ?? null, budget));
    if (at < 0) return a.length - b.length;
    return at >= b.length ? 1 : budget.deeper(() => compare(a[at] ?? null, b[at] ?? null, budget));
  }
  for (const side of [a, b]) if (side instanceof Missing) throw side.problem();
  throw new TemplateProblem(`compares ${typeName(a)} with ${typeName(b)}`);
}

/** JavaScript compares an int and a float exactly, as Python does. */
function compareNumbers(a: bigint | number, b: bigint | number): number {
  return a < b ? -1 : a > b ? 1 : a >= b ? 0 : Number.NaN;
}

/** By code points: JavaScript's own order differs beyond the first 65,536. */
function compareTexts(a: string, b: string): number {
  let at = 0;
  while (at < a.length && a[at] === b[at]) at += 1;
  return (a.codePointAt(at) ?? -1) - (b.codePointAt(at) ?? -1);
}
