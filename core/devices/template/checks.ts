/** The tests of Home Assistant's templates that publishers use: `value is number`. */
import { type Builtin, contains, takes } from "./calls.ts";
import { isNumberLike } from "./functions.ts";
import { compare, Dict, isEqual, isNumber, Missing, Tuple, type Value } from "./values.ts";

function being(is: (value: Value) => boolean): Builtin {
  return takes("value", (_, value) => is(value));
}

function comparing(holds: (order: number) => boolean): Builtin {
  return takes("value other", (run, value, other) => holds(compare(value, other, run.budget)));
}

const equal = takes("value other", (run, value, other) => isEqual(value, other, run.budget));

export const TESTS: ReadonlyMap<string, Builtin> = new Map(
  Object.entries({
    boolean: being((value) => typeof value === "boolean"),
    defined: being((value) => !(value instanceof Missing)),
    eq: equal,
    equalto: equal,
    false: being((value) => value === false),
    float: being((value) => typeof value === "number"),
    ge: comparing((order) => order >= 0),
    gt: comparing((order) => order > 0),
    in: takes("value seq", (run, value, within) => contains(run, within, value)),
    integer: being((value) => typeof value === "bigint"),
    is_number: isNumberLike,
    le: comparing((order) => order <= 0),
    list: being((value) => Array.isArray(value) && !(value instanceof Tuple)),
    lt: comparing((order) => order < 0),
    mapping: being((value) => value instanceof Dict),
    ne: takes("value other", (run, value, other) => !isEqual(value, other, run.budget)),
    none: being((value) => value === null),
    number: being(isNumber),
    string: being((value) => typeof value === "string"),
    true: being((value) => value === true),
    undefined: being((value) => value instanceof Missing),
  } satisfies Record<string, Builtin>),
);
