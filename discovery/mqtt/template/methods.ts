/** Members, items and methods of the values. Nothing else of a value can be reached from a template. */
import { TemplateProblem } from "./budget.ts";
import { type Builtin, intOr, itemsOf, type Run, takes, textOr } from "./calls.ts";
import {
  Datetime,
  datetimeFields,
  datetimeOf,
  isoCalendar,
  isoformat,
  strftime,
  Timedelta,
  timestamp,
} from "./dates.ts";
import { formatText } from "./formats.ts";
import { aware, local } from "./moments.ts";
import { Dict, isEqual, keyOf, Members, Missing, OMITTED, Tuple, typeName, type Value } from "./values.ts";

type Method<Of> = readonly [signature: string, call: (run: Run, of: Of, ...values: Value[]) => Value];

/** @param side where a text is padded */
function padded(side: "start" | "end"): Method<string> {
  return [
    "width fill?",
    (run, text, width, fill) => {
      const lacking = lackingOf(run, text, intOr(width, 0));
      const pad = letterOf(fill, " ").repeat(lacking);
      return side === "start" ? pad + text : text + pad;
    },
  ];
}

/** Characters that a text lacks to a width. */
function lackingOf({ budget }: Run, text: string, width: number): number {
  const lacking = Math.max(0, width - [...text].length);
  budget.reserve(lacking);
  return lacking;
}

function letterOf(value: Value, otherwise: string): string {
  const fill = textOr(value, otherwise);
  if ([...fill].length !== 1) throw new TemplateProblem("fills with what is not one character");
  return fill;
}

/** Python's str.center does the same: for an odd room the longer side depends on the width. */
export function centered(run: Run, text: string, width: number, fill: string): string {
  const lacking = lackingOf(run, text, width);
  const left = Math.floor(lacking / 2) + (lacking & width & 1);
  return fill.repeat(left) + text + fill.repeat(lacking - left);
}

/** All characters are of a kind, and there is one. */
function being(kind: RegExp): Method<string> {
  return ["", (_, text) => kind.test(text)];
}

/** @param find the place of a part in a text, or -1 */
function findMethod(find: (text: string, part: string) => number, isNeeded: boolean): Method<string> {
  return [
    "part start? end?",
    (run, text, part, start, end) => {
      const letters = start === OMITTED ? undefined : [...text];
      const [from, to] = letters ? boundsOf(letters.length, start, end) : [0, 0];
      const within = letters ? letters.slice(from, to).join("") : text;
      run.budget.search(within, asText(part));
      const at = find(within, asText(part));
      if (at < 0 && isNeeded) throw new TemplateProblem("looks for the place of a text that is not there");
      return BigInt(at < 0 ? at : from + [...within.slice(0, at)].length);
    },
  ];
}

/** Python's start and end of a part; below 0 they count from the end. */
function boundsOf(length: number, start: Value, end: Value): [number, number] {
  const place = (at: number) => Math.max(0, Math.min(length, at < 0 ? at + length : at));
  return [place(start === null ? 0 : intOr(start, 0)), place(end === null ? length : intOr(end, length))];
}

/** The part before a separator, it, and the part after it. */
function partition(find: (text: string, part: string) => number, isLast: boolean): Method<string> {
  return [
    "separator",
    (run, text, separator) => {
      const part = asText(separator);
      if (part === "") throw new TemplateProblem("splits at an empty text");
      run.budget.search(text, part);
      const at = find(text, part);
      if (at < 0) return Tuple.from(isLast ? ["", "", text] : [text, "", ""]);
      return Tuple.from([text.slice(0, at), part, text.slice(at + part.length)]);
    },
  ];
}

/** Lines without their ends, as Python's str.splitlines. */
export function linesOf(text: string): string[] {
  const lines = text.split(/\r\n|\p{Zl}|\p{Zp}|[\n\r\v\f\u0085]/u);
  return lines.at(-1) === "" ? lines.slice(0, -1) : lines;
}

const first = (text: string, part: string) => text.indexOf(part);
const last = (text: string, part: string) => text.lastIndexOf(part);

const TEXT_METHODS: Readonly<Record<string, Method<string>>> = {
  capitalize: ["", (_, text) => capitalized(text)],
  casefold: ["", (_, text) => text.toLowerCase().replaceAll("ß", "ss")],
  center: [
    "width fill?",
    (run, text, width, fill) => centered(run, text, intOr(width, 0), letterOf(fill, " ")),
  ],
  count: [
    "part",
    (run, text, part) => {
      run.budget.search(text, asText(part));
      return BigInt(asText(part) === "" ? [...text].length + 1 : text.split(asText(part)).length - 1);
    },
  ],
  expandtabs: [
    "tabsize?",
    (run, text, tabsize) => {
      const size = intOr(tabsize, 8);
      let column = 0;
      const made: string[] = [];
      for (const letter of text) {
        const width = letter === "\t" ? (size > 0 ? size - (column % size) : 0) : 1;
        if (letter === "\t") run.budget.reserve(width);
        made.push(letter === "\t" ? " ".repeat(width) : letter);
        column = letter === "\n" || letter === "\r" ? 0 : column + width;
      }
      return joined(run, made, "");
    },
  ],
  endswith: ["end", (run, text, end) => alternatives(run, end).some((one) => text.endsWith(one))],
  find: findMethod(first, false),
  index: findMethod(first, true),
  isalnum: being(/^[\p{L}\p{N}]+$/u),
  isalpha: being(/^\p{L}+$/u),
  isascii: ["", (_, text) => !/[^\0-\x7f]/.test(text)],
  isdecimal: being(/^\p{Nd}+$/u),
  isdigit: being(/^[\p{Nd}²³¹⁰-⁹₀-₉]+$/u),
  isidentifier: being(/^[\p{L}_][\p{L}\p{N}_]*$/u),
  islower: ["", (_, text) => isCased(text) && text === text.toLowerCase()],
  isnumeric: being(/^\p{N}+$/u),
  isprintable: ["", (_, text) => !/[\p{C}\p{Zl}\p{Zp}]|(?! )\p{Zs}/u.test(text)],
  isspace: being(/^\s+$/u),
  istitle: ["", (_, text) => isCased(text) && text === titled(text)],
  isupper: ["", (_, text) => isCased(text) && text === text.toUpperCase()],
  join: ["items", (run, text, items) => joined(run, Array.from(itemsOf(run, items), asText), text)],
  ljust: padded("end"),
  lower: ["", (_, text) => text.toLowerCase()],
  lstrip: ["characters?", (_, text, characters) => stripped(text, characters, "start")],
  partition: partition(first, false),
  removeprefix: [
    "prefix",
    (_, text, prefix) => (text.startsWith(asText(prefix)) ? text.slice(asText(prefix).length) : text),
  ],
  removesuffix: [
    "suffix",
    (_, text, suffix) =>
      asText(suffix) !== "" && text.endsWith(asText(suffix)) ? text.slice(0, -asText(suffix).length) : text,
  ],
  replace: [
    "old new count?",
    (run, text, old, by, count) => replaced(run, text, asText(old), asText(by), count),
  ],
  rfind: findMethod(last, false),
  rindex: findMethod(last, true),
  rjust: padded("start"),
  rpartition: partition(last, true),
  rsplit: ["sep? maxsplit?", (run, text, separator, most) => splitText(run, text, separator, most, true)],
  rstrip: ["characters?", (_, text, characters) => stripped(text, characters, "end")],
  split: ["sep? maxsplit?", (run, text, separator, most) => splitText(run, text, separator, most, false)],
  splitlines: [
    "keepends?",
    (run, text, keepends) => {
      if (keepends !== OMITTED) throw new TemplateProblem("keeps the ends of lines, which is not known here");
      const lines = linesOf(text);
      run.budget.spend(lines.length);
      return lines;
    },
  ],
  startswith: ["start", (run, text, start) => alternatives(run, start).some((one) => text.startsWith(one))],
  strip: ["characters?", (_, text, characters) => stripped(text, characters)],
  swapcase: [
    "",
    (_, text) =>
      text.replace(/\p{L}/gu, (one) => (one === one.toLowerCase() ? one.toUpperCase() : one.toLowerCase())),
  ],
  title: ["", (_, text) => titled(text)],
  upper: ["", (_, text) => text.toUpperCase()],
  zfill: [
    "width",
    (run, text, width) => {
      const sign = /^[+-]/.exec(text)?.[0] ?? "";
      return sign + "0".repeat(lackingOf(run, text, intOr(width, 0))) + text.slice(sign.length);
    },
  ],
};

function titled(text: string): string {
  return text.replace(/\p{L}+/gu, capitalized);
}

function isCased(text: string): boolean {
  return text.toLowerCase() !== text.toUpperCase();
}

const LIST_METHODS: Readonly<Record<string, Method<Value[]>>> = {
  copy: ["", (run, list) => Array.from(itemsOf(run, list))],
  count: [
    "value",
    (run, list, value) =>
      BigInt(itemsOf(run, list).filter((item) => isEqual(item, value, run.budget)).length),
  ],
  index: [
    "value start? end?",
    (run, list, value, start, end) => {
      const [from, to] = boundsOf(list.length, start, end);
      const at = itemsOf(run, list).findIndex(
        (item, place) => place >= from && place < to && isEqual(item, value, run.budget),
      );
      if (at < 0) throw new TemplateProblem("looks for the place of a value that is not there");
      return BigInt(at);
    },
  ],
};

const NUMBER_METHODS: Readonly<Record<string, Method<bigint | number>>> = {
  bit_count: ["", (_, number) => BigInt(sizeOf(number).toString(2).replaceAll("0", "").length)],
  bit_length: ["", (_, number) => BigInt(sizeOf(number) === 0n ? 0 : sizeOf(number).toString(2).length)],
  conjugate: ["", (_, number) => number],
  is_integer: ["", (_, number) => typeof number === "bigint" || Number.isInteger(number)],
};

/** The size of a whole number, which alone has bits. */
function sizeOf(number: bigint | number): bigint {
  if (typeof number !== "bigint") throw new TemplateProblem("has bits of a float");
  return number < 0n ? -number : number;
}

const DICT_METHODS: Readonly<Record<string, Method<Dict>>> = {
  copy: [
    "",
    (run, dict) => {
      run.budget.spend(dict.size);
      const made = new Dict();
      for (const [key, value] of dict.entries()) made.set(key, value);
      return made;
    },
  ],
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

const DATETIME_METHODS: Readonly<Record<string, Method<Datetime>>> = {
  astimezone: [
    "tz?",
    (run, time, zone) => {
      if (zone !== OMITTED)
        throw new TemplateProblem("changes a time to another zone, which is not known here");
      return local(run, time);
    },
  ],
  ctime: ["", (_, time) => strftime(time, "%a %b %e %H:%M:%S %Y")],
  isocalendar: ["", (_, time) => Tuple.from(isoCalendar(time).map(BigInt))],
  isoweekday: ["", (_, time) => BigInt(datetimeFields(time).weekday)],
  isoformat: ["separator?", (_, time, separator) => isoformat(time, textOr(separator, "T"))],
  replace: [
    "year? month? day? hour? minute? second? microsecond?",
    (_, time, ...values) => {
      const fields = datetimeFields(time);
      const of = (at: number, otherwise: number) => intOr(values[at] ?? OMITTED, otherwise);
      const { year, month, day, hour, minute, second, microsecond } = fields;
      return datetimeOf(
        [
          of(0, year),
          of(1, month),
          of(2, day),
          of(3, hour),
          of(4, minute),
          of(5, second),
          of(6, microsecond),
        ],
        time.offset,
      );
    },
  ],
  strftime: ["format", (_, time, format) => strftime(time, textOr(format, ""))],
  timestamp: ["", (run, time) => timestamp(aware(run, time))],
  toordinal: ["", (_, time) => BigInt(Math.floor(datetimeFields(time).clock / 86_400_000_000) + 719_163)],
  utcoffset: ["", (_, { offset }) => (offset === undefined ? null : new Timedelta(offset * 60_000_000))],
  weekday: ["", (_, time) => BigInt(datetimeFields(time).weekday - 1)],
};

const TIMEDELTA_METHODS: Readonly<Record<string, Method<Timedelta>>> = {
  total_seconds: ["", (_, { micros }) => micros / 1_000_000],
};

const NAMES = [
  TEXT_METHODS,
  LIST_METHODS,
  NUMBER_METHODS,
  DICT_METHODS,
  DATETIME_METHODS,
  TIMEDELTA_METHODS,
  { cycle: true, format: true, fromkeys: true, from_keys: true },
].flatMap(Object.keys);

/** Each gets its value as the first one. Of what a method will be called is not known before. */
export const METHODS: ReadonlyMap<string, Builtin> = new Map(NAMES.map((name) => [name, methodOf(name)]));

function methodOf(name: string): Builtin {
  return (run, [of = OMITTED, ...positional], named) => {
    if (of instanceof Missing) throw of.problem();
    let method: Builtin | undefined;
    if (typeof of === "string" && name === "format") return formatText(run, of, positional, named);
    const place = of instanceof Members && name === "cycle" ? of.get("index0") : undefined;
    if (typeof place === "bigint" && positional.length > 0)
      return positional[Number(place) % positional.length] ?? null;
    if (typeof of === "string") method = bound(TEXT_METHODS, name, of);
    else if (Array.isArray(of) && !(of instanceof Tuple && name === "copy"))
      method = bound(LIST_METHODS, name, of);
    else if (typeof of === "bigint" || typeof of === "number") method = bound(NUMBER_METHODS, name, of);
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
function splitText(run: Run, text: string, separator: Value, most: Value, fromEnd: boolean): Value {
  const bySpace = separator === OMITTED || separator === null;
  const between = bySpace ? " " : asText(separator);
  if (between === "") throw new TemplateProblem("splits at an empty text");
  run.budget.search(text, between);
  const parts = bySpace ? (text.match(/\S+/g) ?? []) : text.split(between);
  run.budget.spend(parts.length);
  const limit = intOr(most, -1);
  if (limit < 0 || parts.length <= limit + 1) return parts;
  if (bySpace) return splitAtSpace(text, limit, fromEnd);
  const cut = parts.length - limit;
  if (fromEnd) return [parts.slice(0, cut).join(between), ...parts.slice(cut)];
  return [...parts.slice(0, limit), parts.slice(limit).join(between)];
}

/** The rest keeps its whitespace within. */
function splitAtSpace(text: string, limit: number, fromEnd: boolean): string[] {
  const words = [...text.matchAll(/\S+/g)];
  if (!fromEnd) {
    const rest = text.slice(words[limit]?.index);
    return [...words.slice(0, limit).map(([word]) => word), rest];
  }
  const before = words[words.length - limit - 1];
  const rest = text.slice(0, (before?.index ?? 0) + (before?.[0].length ?? 0));
  return [rest, ...words.slice(words.length - limit).map(([word]) => word)];
}

function asText(value: Value): string {
  return textOr(value, "");
}

function alternatives(run: Run, value: Value): string[] {
  return value instanceof Tuple ? Array.from(itemsOf(run, value), asText) : [asText(value)];
}
