/** The filters of Home Assistant's templates that publishers use. Those with a regular expression have no bound, and are left out. */
import { TemplateProblem } from "./budget.ts";
import { type Builtin, intOr, itemsOf, type Run, takes, textOr } from "./calls.ts";
import { type Datetime, fromTimestamp, isoformat, strftime } from "./dates.ts";
import { FUNCTION_FILTERS, local, orDefault } from "./functions.ts";
import { jsonText, parseJson } from "./json.ts";
import { capitalized, itemOf, joined, replaced, stripped } from "./methods.ts";
import { calculate, printf, rounded, signed, toFloat, toInt } from "./numbers.ts";
import { refuseUnsteady } from "./unsteady.ts";
import { Dict, isNumber, isTrue, Missing, OMITTED, textOf, type Value } from "./values.ts";

/** A filter of the value's text. */
function ofText(change: (text: string) => string): Builtin {
  return takes("s", (run, value) => change(textOf(value, run.budget)));
}

function isOn(option: Value): boolean {
  return option !== OMITTED && isTrue(option);
}

const byDefault = takes("value default_value? boolean?", (_, value, otherwise, alsoFalse) => {
  if (!(value instanceof Missing) && (!isOn(alsoFalse) || isTrue(value))) return value;
  return otherwise === OMITTED ? "" : otherwise;
});

const round = takes("value precision? method? default?", (_, value, precision, method, otherwise) => {
  const number = toFloat(value);
  const decimals = intOr(precision, 0);
  const isKnown = number !== undefined && Math.abs(decimals) < 300;
  const made = isKnown ? roundedBy(number, decimals, textOr(method, "common")) : undefined;
  if (made === undefined || decimals !== 0) return orDefault(made, otherwise, value, "a number");
  return orDefault(Number.isFinite(made) ? BigInt(made) : undefined, otherwise, value, "a number");
});

function roundedBy(number: number, decimals: number, method: string): number {
  const factor = 10 ** decimals;
  if (method === "ceil") return Math.ceil(number * factor) / factor;
  if (method === "floor") return Math.floor(number * factor) / factor;
  const made = method === "half" ? rounded(number * 2, 0) / 2 : rounded(number, decimals);
  return decimals === 0 ? Math.trunc(made) : made;
}

/** The member that the parameter "attribute" names, such as "a.b". */
function attributeOf(run: Run, value: Value, attribute: Value): Value {
  const path = typeof attribute === "string" ? attribute.split(".") : [attribute];
  const key = (part: Value) =>
    typeof part === "string" && /^\d+$/.test(part) ? (toInt(part) ?? part) : part;
  return path.reduce<Value>((of, part) => itemOf(run, of, key(part)), value);
}

const map: Builtin = (run, [value = OMITTED, name, ...others], named) => {
  const attribute = named.get("attribute");
  if (run.isCommand && typeof name === "string") refuseUnsteady(name);
  const filter = typeof name === "string" ? FILTERS.get(name) : undefined;
  if (attribute === undefined && !filter)
    throw new TemplateProblem("maps a list by a filter that is not known here");
  return itemsOf(run, value).map((item) => {
    run.budget.spend();
    if (attribute === undefined) return filter?.(run, [item, ...others], named) ?? null;
    const member = attributeOf(run, item, attribute);
    const otherwise = named.get("default");
    return member instanceof Missing && otherwise !== undefined ? otherwise : member;
  });
};

const truncate = takes("s length? killwords? end? leeway?", (_, value, length, killwords, end, leeway) => {
  if (value instanceof Missing) return value;
  const letters = [...textOr(value, "")];
  const tail = textOr(end, "...");
  const most = intOr(length, 255);
  if (most < [...tail].length) throw new TemplateProblem("truncates to less than the end that it adds");
  if (letters.length <= most + intOr(leeway, 5)) return letters.join("");
  const kept = letters.slice(0, most - [...tail].length).join("");
  const space = isOn(killwords) ? -1 : kept.lastIndexOf(" ");
  return (space < 0 ? kept : kept.slice(0, space)) + tail;
});

const length = takes("value", (run, value) =>
  BigInt(value instanceof Dict ? value.size : itemsOf(run, value).length),
);

/** @param at 0: the first, -1: the last */
function itemAt(at: number): Builtin {
  return takes("seq", (run, value) => {
    const item = itemsOf(run, value).at(at);
    return item === undefined ? new Missing("an item of an empty list") : item;
  });
}

/** A filter of seconds since 1970. */
function ofTimestamp(
  signature: string,
  write: (run: Run, time: Datetime, ...values: Value[]) => Value,
): Builtin {
  return takes(`value ${signature} default?`, (run, value, ...values) => {
    if (value instanceof Missing) throw value.problem();
    const made = isNumber(value) ? write(run, fromTimestamp(Number(value)), ...values) : undefined;
    return orDefault(made, values.at(-1) ?? null, value, "seconds since 1970");
  });
}

export const FILTERS: ReadonlyMap<string, Builtin> = new Map(
  Object.entries({
    ...FUNCTION_FILTERS,
    abs: takes("x", (_, value) => signed(isNumber(value) && Number(value) < 0 ? "minus" : "plus", value)),
    capitalize: ofText(capitalized),
    count: length,
    d: byDefault,
    default: byDefault,
    first: itemAt(0),
    format: (run, [format = "", ...values]) => printf(textOf(format, run.budget), values, run.budget),
    from_json: takes("value default?", (_, value, otherwise) => {
      const made = typeof value === "string" ? parseJson(value) : undefined;
      return orDefault(made, otherwise, value, "JSON");
    }),
    is_defined: takes("value", (_, value) => {
      if (value instanceof Missing) throw value.problem();
      return value;
    }),
    join: takes("value d? attribute?", (run, value, d, attribute) => {
      const of = (item: Value) => (attribute === OMITTED ? item : attributeOf(run, item, attribute));
      const texts = itemsOf(run, value).map((item) => textOf(of(item), run.budget));
      return joined(run, texts, d === OMITTED ? "" : textOf(d, run.budget));
    }),
    last: itemAt(-1),
    length,
    list: takes("value", (run, value) => Array.from(itemsOf(run, value))),
    lower: ofText((text) => text.toLowerCase()),
    map,
    replace: takes("s old new count?", (run, ...values) => {
      const [text = "", old = "", by = ""] = values.slice(0, 3).map((value) => textOf(value, run.budget));
      return replaced(run, text, old, by, values[3] ?? null);
    }),
    reverse: takes("value", (run, value) => {
      const items = Array.from(itemsOf(run, value)).reverse();
      return typeof value === "string" ? items.join("") : items;
    }),
    round,
    string: ofText((text) => text),
    sum: takes("iterable", (run, value) =>
      itemsOf(run, value).reduce((sum, item) => calculate("+", sum, item, run.budget), 0n),
    ),
    timestamp_custom: ofTimestamp("date_format? local?", (run, time, format = OMITTED, isLocal = OMITTED) => {
      const shown = isLocal === OMITTED || isTrue(isLocal) ? local(run, time) : time;
      return strftime(shown, textOr(format, "%Y-%m-%d %H:%M:%S"));
    }),
    timestamp_local: ofTimestamp("", (run, time) => isoformat(local(run, time))),
    timestamp_utc: ofTimestamp("", (_, time) => isoformat(time)),
    title: ofText((text) =>
      text
        .split(/([-\s({[<]+)/)
        .map(capitalized)
        .join(""),
    ),
    to_json: takes("value", (run, value) => jsonText(value, "compact", run.budget)),
    tojson: takes("value", (run, value) => jsonText(value, "jinja", run.budget)),
    trim: takes("value chars?", (run, value, chars) => stripped(textOf(value, run.budget), chars)),
    truncate,
    upper: ofText((text) => text.toUpperCase()),
  } satisfies Record<string, Builtin>),
);
