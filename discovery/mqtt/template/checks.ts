/** The tests of Jinja's and Home Assistant's templates: `value is number`. */
import { type Builtin, contains, type Run, takes } from "./calls.ts";
import { Datetime } from "./dates.ts";
import { isNumberLike } from "./functions.ts";
import { MATH_TESTS } from "./maths.ts";
import { REGEX_TESTS } from "./regex.ts";
import { TEXT_TESTS } from "./texts.ts";
import { compare, Dict, isEqual, isNumber, Macro, Missing, Tuple, type Value } from "./values.ts";

function being(is: (value: Value) => boolean): Builtin {
  return takes("value", (_, value) => is(value));
}

function comparing(holds: (order: number) => boolean): Builtin {
  return takes("value other", (run, value, other) => holds(compare(value, other, run.budget)));
}

const greater = comparing((order) => order > 0);
const less = comparing((order) => order < 0);
const atLeast = comparing((order) => order >= 0);
const atMost = comparing((order) => order <= 0);
const unequal = takes("value other", (run, value, other) => !isEqual(value, other, run.budget));

function isIterable(value: Value): boolean {
  return (
    typeof value === "string" || Array.isArray(value) || value instanceof Dict || value instanceof Missing
  );
}

const equal = takes("value other", (run, value, other) => isEqual(value, other, run.budget));

/** The same value, not only an equal one. */
function isSame(value: Value, other: Value, run: Run): boolean {
  if (typeof value === "object" && value !== null) return value === other;
  return typeof value === typeof other && isEqual(value, other, run.budget);
}

export const TESTS: ReadonlyMap<string, Builtin> = new Map(
  Object.entries({
    ...MATH_TESTS,
    ...REGEX_TESTS,
    ...TEXT_TESTS,
    "!=": unequal,
    "<": less,
    "<=": atMost,
    "==": equal,
    ">": greater,
    ">=": atLeast,
    callable: being((value) => value instanceof Macro),
    contains: takes("value item", (run, value, item) => contains(run, value, item)),
    datetime: being((value) => value instanceof Datetime),
    escaped: being(() => false),
    greaterthan: greater,
    iterable: being(isIterable),
    lessthan: less,
    sameas: takes("value other", (run, value, other) => isSame(value, other, run)),
    sequence: being(isIterable),
    string_like: being((value) => typeof value === "string"),
    tuple: being((value) => value instanceof Tuple),
    boolean: being((value) => typeof value === "boolean"),
    defined: being((value) => !(value instanceof Missing)),
    eq: equal,
    equalto: equal,
    false: being((value) => value === false),
    float: being((value) => typeof value === "number"),
    ge: atLeast,
    gt: greater,
    in: takes("value seq", (run, value, within) => contains(run, within, value)),
    integer: being((value) => typeof value === "bigint"),
    is_number: isNumberLike,
    le: atMost,
    list: being((value) => Array.isArray(value) && !(value instanceof Tuple)),
    lt: less,
    mapping: being((value) => value instanceof Dict),
    ne: unequal,
    none: being((value) => value === null),
    number: being(isNumber),
    string: being((value) => typeof value === "string"),
    true: being((value) => value === true),
    undefined: being((value) => value instanceof Missing),
  } satisfies Record<string, Builtin>),
);
