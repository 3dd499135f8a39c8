/** The filters of Jinja's and Home Assistant's templates; those that are not offered are in `refused.ts`. */
import { TemplateProblem } from "./budget.ts";
import { type Builtin, contains, intOr, itemsOf, type Run, takes, textOr } from "./calls.ts";
import { TESTS } from "./checks.ts";
import { type Datetime, fromTimestamp, isoformat, strftime } from "./dates.ts";
import { FUNCTION_FILTERS } from "./functions.ts";
import { jsonText, parseJson } from "./json.ts";
import { attributeOf, isOn, LIST_FILTERS } from "./lists.ts";
import { MATH_FILTERS, orDefault } from "./maths.ts";
import { memberOf } from "./members.ts";
import { capitalized, joined, replaced, stripped } from "./methods.ts";
import { local } from "./moments.ts";
import { printf, rounded, signed, toFloat } from "./numbers.ts";
import { unknownNameText } from "./refused.ts";
import { REGEX_FILTERS } from "./regex.ts";
import { TEXT_FILTERS } from "./texts.ts";
import { refuseUnsteady } from "./unsteady.ts";
import { Dict, isNumber, isTrue, Missing, OMITTED, textOf, type Value } from "./values.ts";

/** A filter of the value's text. */
function ofText(change: (text: string) => string): Builtin {
  return takes("s", (run, value) => change(textOf(value, run.budget)));
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

const map: Builtin = (run, [value = OMITTED, name, ...others], named) => {
  const attribute = named.get("attribute");
  if (run.isCommand && typeof name === "string") refuseUnsteady(name);
  const filter = typeof name === "string" ? FILTERS.get(name) : undefined;
  if (attribute === undefined && !filter)
    throw new TemplateProblem(unknownNameText("filter", typeof name === "string" ? name : ""));
  return itemsOf(run, value).map((item) => {
    run.budget.spend();
    if (attribute === undefined) return filter?.(run, [item, ...others], named) ?? null;
    const member = attributeOf(run, item, attribute);
    const otherwise = named.get("default");
    return member instanceof Missing && otherwise !== undefined ? otherwise : member;
  });
};

/** @param isWanted which items stay @param ofMember the test is one of a member */
function selecting(isWanted: boolean, ofMember: boolean): Builtin {
  return (run, [value = OMITTED, ...rest], named) => {
    const attribute = ofMember ? rest.shift() : undefined;
    if (ofMember && attribute === undefined)
      throw new TemplateProblem('leaves out the parameter "attribute"');
    const [name, ...others] = rest;
    const test = typeof name === "string" ? TESTS.get(name) : undefined;
    if (name !== undefined && !test)
      throw new TemplateProblem(unknownNameText("test", textOf(name, run.budget)));
    return itemsOf(run, value).filter((item) => {
      run.budget.spend();
      const of = attribute === undefined ? item : attributeOf(run, item, attribute);
      return isTrue(test ? test(run, [of, ...others], named) : of) === isWanted;
    });
  };
}

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
    ...LIST_FILTERS,
    ...MATH_FILTERS,
    ...REGEX_FILTERS,
    ...TEXT_FILTERS,
    abs: takes("x", (_, value) => signed(isNumber(value) && Number(value) < 0 ? "minus" : "plus", value)),
    attr: takes("obj name", (_, value, name) => memberOf(value, textOr(name, ""))),
    capitalize: ofText(capitalized),
    contains: takes("value item", (run, value, item) => contains(run, value, item)),
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
    reject: selecting(false, false),
    rejectattr: selecting(false, true),
    replace: takes("s old new count?", (run, ...values) => {
      const [text = "", old = "", by = ""] = values.slice(0, 3).map((value) => textOf(value, run.budget));
      return replaced(run, text, old, by, values[3] ?? null);
    }),
    reverse: takes("value", (run, value) => {
      const items = Array.from(itemsOf(run, value)).reverse();
      return typeof value === "string" ? items.join("") : items;
    }),
    round,
    select: selecting(true, false),
    selectattr: selecting(true, true),
    string: ofText((text) => text),
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
    to_json: takes(
      "value ensure_ascii? pretty_print? sort_keys?",
      (run, value, ensureAscii, prettyPrint, sortKeys) => {
        const letters = isOn(ensureAscii) ? "ascii" : "plain";
        const indent = isOn(prettyPrint) ? { indent: 2 } : {};
        return jsonText(value, { letters, sorted: isOn(sortKeys), ...indent }, run.budget);
      },
    ),
    tojson: takes("value indent?", (run, value, indent) => {
      const levels = indent === null || indent === OMITTED ? {} : { indent: Math.max(0, intOr(indent, 0)) };
      return jsonText(value, { letters: "jinja", sorted: true, ...levels }, run.budget);
    }),
    trim: takes("value chars?", (run, value, chars) => stripped(textOf(value, run.budget), chars)),
    truncate,
    upper: ofText((text) => text.toUpperCase()),
  } satisfies Record<string, Builtin>),
);
