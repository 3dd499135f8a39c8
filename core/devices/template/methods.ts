/** Members, items and methods of the values. Nothing else of a value can be reached from a template. */
import { TemplateProblem } from "./budget.ts";
import { type Builtin, intOr, itemsOf, placeOf, type Run, takes, textOr } from "./calls.ts";
import { Datetime, datetimeFields, isoformat, strftime, Timedelta, timestamp } from "./dates.ts";
import { Dict, keyOf, Members, Missing, OMITTED, Tuple, textOf, typeName, type Value } from "./values.ts";

type Method<Of> = readonly [signature: string, call: (run: Run, of: Of, ...values: Value[]) => Value];

const TEXT_METHODS: Readonly<Record<string, Method<string>>> = {
  capitalize: ["", (_, text) => capitalized(text)],
  endswith: ["end", (run, text, end) => alternatives(run, end).some((one) => text.endsWith(one))],
  find: [
    "part",
    (run, text, part) => {
      const at = placeOf(run, text, asText(part));
      return BigInt(at < 0 ? at : [...text.slice(0, at)].length);
    },
  ],
  isdigit: ["", (_, text) => /^\p{Nd}+$/u.test(text)],
  join: ["items", (run, text, items) => joined(run, Array.from(itemsOf(run, items), asText), text)],
  lower: ["", (_, text) => text.toLowerCase()],
  lstrip: ["characters?", (_, text, characters) => stripped(text, characters, "start")],
  replace: [
    "old new count?",
    (run, text, old, by, count) => replaced(run, text, asText(old), asText(by), count),
  ],
  rstrip: ["characters?", (_, text, characters) => stripped(text, characters, "end")],
  split: ["separator? maxsplit?", splitText],
  startswith: ["start", (run, text, start) => alternatives(run, start).some((one) => text.startsWith(one))],
  strip: ["characters?", (_, text, characters) => stripped(text, characters)],
  title: ["", (_, text) => text.replace(/\p{L}+/gu, capitalized)],
  upper: ["", (_, text) => text.toUpperCase()],
};

const DICT_METHODS: Readonly<Record<string, Method<Dict>>> = {
  get: [
    "key default?",
    (_, dict, key, otherwise) => {
      const value = dict.get(keyOf(key));
      if (value !== undefined) return value;
      return otherwise === OMITTED ? null : otherwise;
    },
  ],
  items: ["", (_, dict) => dict.entries().map((pair) => Tuple.from(pair))],
  keys: ["", (_, dict) => dict.keys()],
  values: ["", (_, dict) => dict.entries().map(([, value]) => value)],
};

/** They hide a key of the same name in `value.name`. Those that would change the dict are refused by Home Assistant. */
const DICT_MEMBERS = [
  ...Object.keys(DICT_METHODS),
  "clear",
  "copy",
  "pop",
  "popitem",
  "setdefault",
  "update",
];

const DATETIME_METHODS: Readonly<Record<string, Method<Datetime>>> = {
  isoformat: ["separator?", (_, time, separator) => isoformat(time, textOr(separator, "T"))],
  strftime: ["format", (_, time, format) => strftime(time, textOr(format, ""))],
  timestamp: ["", (_, time) => timestamp(time)],
  weekday: ["", (_, time) => BigInt(datetimeFields(time).weekday - 1)],
};

const TIMEDELTA_METHODS: Readonly<Record<string, Method<Timedelta>>> = {
  total_seconds: ["", (_, { micros }) => micros / 1_000_000],
};

const NAMES = [TEXT_METHODS, DICT_METHODS, DATETIME_METHODS, TIMEDELTA_METHODS].flatMap(Object.keys);

/** Each gets its value as the first one. Of what a method will be called is not known before. */
export const METHODS: ReadonlyMap<string, Builtin> = new Map(NAMES.map((name) => [name, methodOf(name)]));

function methodOf(name: string): Builtin {
  return (run, [of = OMITTED, ...positional], named) => {
    if (of instanceof Missing) throw of.problem();
    let method: Builtin | undefined;
    if (typeof of === "string") method = bound(TEXT_METHODS, name, of);
    else if (of instanceof Dict) method = bound(DICT_METHODS, name, of);
    else if (of instanceof Datetime) method = bound(DATETIME_METHODS, name, of);
    else if (of instanceof Timedelta) method = bound(TIMEDELTA_METHODS, name, of);
    if (!method) throw new TemplateProblem(`calls the method "${name}" of ${typeName(of)}`);
    return method(run, positional, named);
  };
}

function bound<Of>(methods: Readonly<Record<string, Method<Of>>>, name: string, of: Of): Builtin | undefined {
  const method = Object.hasOwn(methods, name) ? methods[name] : undefined;
  if (!method) return undefined;
  const [signature, call] = method;
  return takes(signature, (run, ...values) => {
    if (of instanceof Dict) run.budget.spend(of.size);
    const made = call(run, of, ...values);
    return typeof made === "string" ? run.budget.text(made) : made;
  });
}

/** `value.name`. */
export function memberOf(of: Value, name: string): Value {
  if (of instanceof Missing) throw of.problem();
  let member: Value | undefined;
  if (of instanceof Dict && !DICT_MEMBERS.includes(name)) member = of.get(keyOf(name));
  else if (of instanceof Members) member = of.get(name);
  else if (of instanceof Datetime) {
    const { weekday: _, ...fields } = datetimeFields(of);
    const field = Object.entries(fields).find(([field]) => field === name);
    if (field) member = BigInt(field[1]);
  }
  return member === undefined ? new Missing(`the member "${name}"`) : member;
}

/** `value[key]`. */
export function itemOf(run: Run, of: Value, key: Value): Value {
  if (of instanceof Missing) throw of.problem();
  let item: Value | undefined;
  if (of instanceof Dict) item = Array.isArray(key) || key instanceof Dict ? undefined : of.get(keyOf(key));
  else if (
    (Array.isArray(of) || typeof of === "string") &&
    (typeof key === "bigint" || typeof key === "boolean")
  )
    item = (typeof of === "string" ? [...of] : of).at(Number(key));
  if (item !== undefined) return item;
  return typeof key === "string" ? memberOf(of, key) : new Missing(`the item ${textOf(key, run.budget)}`);
}

/** `value[start:stop:step]` of a text or a list. */
export function sliceOf(run: Run, of: Value, bounds: readonly Value[]): Value {
  const items = typeof of === "string" ? [...of] : of;
  if (!Array.isArray(items)) throw new TemplateProblem(`takes a part of ${typeName(of)}`);
  const [start, stop, step] = bounds.map((bound) => (bound === null ? undefined : intOr(bound, 0)));
  const by = step ?? 1;
  if (by === 0) throw new TemplateProblem("takes a part in steps of 0");
  const least = by < 0 ? -1 : 0;
  const most = by < 0 ? items.length - 1 : items.length;
  const place = (bound: number) => Math.max(least, Math.min(most, bound < 0 ? bound + items.length : bound));
  const from = start === undefined ? (by < 0 ? most : least) : place(start);
  const to = stop === undefined ? (by < 0 ? least : most) : place(stop);
  const part: Value[] = [];
  for (let at = from; by < 0 ? at > to : at < to; at += by) part.push(items[at] ?? null);
  run.budget.spend(part.length);
  if (typeof of === "string") return part.join("");
  return of instanceof Tuple ? Tuple.from(part) : part;
}

export function capitalized(text: string): string {
  const [first = ""] = text;
  return first.toUpperCase() + text.slice(first.length).toLowerCase();
}

/** @param characters OMITTED or null: whitespace */
export function stripped(text: string, characters: Value, side?: "start" | "end"): string {
  const isSpace = characters === OMITTED || characters === null;
  const out = new Set(isSpace ? "" : textOr(characters, ""));
  const isOut = (letter: string) => (isSpace ? /\s/.test(letter) : out.has(letter));
  const letters = [...text];
  let from = 0;
  let to = letters.length;
  while (side !== "end" && from < to && isOut(letters[from] ?? "")) from += 1;
  while (side !== "start" && to > from && isOut(letters[to - 1] ?? "")) to -= 1;
  return letters.slice(from, to).join("");
}

/** @param count OMITTED, null or below 0: all */
export function replaced(run: Run, text: string, old: string, by: string, count: Value): string {
  run.budget.search(text, old);
  const parts = old === "" ? ["", ...text, ""] : text.split(old);
  const most = count === null ? -1 : intOr(count, -1);
  const times = most < 0 ? parts.length - 1 : Math.min(most, parts.length - 1);
  run.budget.spend(Math.floor(parts.length / 16));
  run.budget.reserve(text.length + times * (by.length - old.length));
  const rest = parts.slice(times + 1);
  return [parts.slice(0, times + 1).join(by), ...rest].join(old);
}

export function joined(run: Run, texts: readonly string[], separator: string): string {
  run.budget.reserve(texts.reduce((length, text) => length + text.length + separator.length, 0));
  return texts.join(separator);
}

/** @param separator OMITTED or null: any whitespace @param most OMITTED or below 0: all */
function splitText(run: Run, text: string, separator: Value, most: Value): Value {
  const bySpace = separator === OMITTED || separator === null;
  const between = bySpace ? " " : asText(separator);
  if (between === "") throw new TemplateProblem("splits at an empty text");
  run.budget.search(text, between);
  const parts = bySpace ? (text.match(/\S+/g) ?? []) : text.split(between);
  run.budget.spend(parts.length);
  const limit = intOr(most, -1);
  if (limit < 0 || parts.length <= limit + 1) return parts;
  if (bySpace) throw new TemplateProblem("splits at whitespace, and not everywhere");
  return [...parts.slice(0, limit), parts.slice(limit).join(between)];
}

function asText(value: Value): string {
  return textOr(value, "");
}

function alternatives(run: Run, value: Value): string[] {
  return value instanceof Tuple ? Array.from(itemsOf(run, value), asText) : [asText(value)];
}
