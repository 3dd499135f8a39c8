/** JSON as Home Assistant reads and writes it in templates. */
import type { TemplateBudget } from "./budget.ts";
import { TemplateProblem } from "./budget.ts";
import { Dict, floatText, textOf, typeName, type Value } from "./values.ts";

const LEVELS_MAX = 100;
const INT64_MIN = -(2n ** 63n);
const UINT64_MAX = 2n ** 64n - 1n;

/** @returns undefined: the text is not JSON, or has more than 100 levels */
export function parseJson(text: string): Value | undefined {
  try {
    JSON.parse(text);
  } catch {
    return undefined;
  }
  // JSON.parse does not say whether a number is 20 or 20.0, which print differently.
  const top: Value[] = [];
  const open: Array<{ add: (value: Value) => void }> = [{ add: (value) => top.push(value) }];
  for (const [token] of text.matchAll(/"(?:[^"\\]|\\.)*"|[[\]{}]|[^\s,:[\]{}"]+/g)) {
    const parent = open.at(-1);
    if (!parent) return undefined;
    if (token === "]" || token === "}") open.pop();
    else if (open.length > LEVELS_MAX) return undefined;
    else if (token === "[") {
      const items: Value[] = [];
      parent.add(items);
      open.push({ add: (value) => items.push(value) });
    } else if (token === "{") {
      const dict = new Dict();
      parent.add(dict);
      let key: Value | undefined;
      const add = (value: Value) => {
        if (key !== undefined) dict.set(key, value);
        key = key === undefined ? value : undefined;
      };
      open.push({ add });
    } else parent.add(scalar(token));
  }
  return top[0];
}

function scalar(token: string): Value {
  if (/^-?\d+$/.test(token) && token.length <= 20) {
    const whole = BigInt(token);
    if (whole >= INT64_MIN && whole <= UINT64_MAX) return whole;
  }
  const value: unknown = JSON.parse(token);
  return value === null || typeof value === "boolean" || typeof value === "string" ? value : Number(value);
}

export type JsonStyle = {
  /** jinja: what `tojson` writes, in ASCII and safe within HTML. ascii: in ASCII. plain: as Home Assistant's `to_json` does. */
  letters: "jinja" | "ascii" | "plain";
  sorted: boolean;
  /** Spaces of a level on lines of its own; undefined: one line. */
  indent?: number;
};

export function jsonText(value: Value, style: JsonStyle, budget: TemplateBudget, level = 1): string {
  budget.spend();
  if (value === null) return "null";
  if (typeof value === "boolean" || typeof value === "bigint") return String(value);
  if (typeof value === "number") return jsonFloat(value, style);
  if (typeof value === "string")
    return budget.text(style.letters === "plain" ? JSON.stringify(value) : escaped(value, style));
  const space = style.letters === "plain" && style.indent === undefined ? "" : " ";
  const write = (one: Value) => jsonText(one, style, budget, level + 1);
  const within = (open: string, parts: readonly string[], close: string) => {
    if (style.indent === undefined || parts.length === 0) return `${open}${parts.join(`,${space}`)}${close}`;
    budget.reserve(style.indent * level * parts.length);
    const line = (depth: number) => `\n${" ".repeat((style.indent ?? 0) * depth)}`;
    return `${open}${line(level)}${parts.join(`,${line(level)}`)}${line(level - 1)}${close}`;
  };
  if (Array.isArray(value))
    return within(
      "[",
      budget.deeper(() => Array.from(value, write)),
      "]",
    );
  if (!(value instanceof Dict)) throw new TemplateProblem(`writes ${typeName(value)} as JSON`);
  const pairs = value.entries().map(([key, one]) => [keyText(key, budget), one] as const);
  if (style.sorted) pairs.sort(([a], [b]) => (a < b ? -1 : 1));
  return within(
    "{",
    budget.deeper(() => pairs.map((pair) => pair.map(write).join(`:${space}`))),
    "}",
  );
}

function keyText(key: Value, budget: TemplateBudget): string {
  if (key === null || typeof key === "boolean") return String(key);
  if (typeof key === "string" || typeof key === "bigint" || typeof key === "number")
    return textOf(key, budget);
  throw new TemplateProblem(`writes ${typeName(key)} as a key of JSON`);
}

function jsonFloat(value: number, style: JsonStyle): string {
  if (Number.isFinite(value)) return floatText(value);
  if (style.letters !== "jinja") return "null";
  return Number.isNaN(value) ? "NaN" : value < 0 ? "-Infinity" : "Infinity";
}

function escaped(text: string, { letters }: JsonStyle): string {
  const code = (unit: string) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;
  return JSON.stringify(text).replace(
    letters === "jinja" ? /[<>&'\u007f-\uffff]/g : /[\u007f-\uffff]/g,
    code,
  );
}
