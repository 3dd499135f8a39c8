/** The functions of Home Assistant's templates. Some are also filters. */
import { TemplateProblem } from "./budget.ts";
import { type Builtin, intOr, type Run, takes } from "./calls.ts";
import { fromTimestamp, TIMEDELTA_UNITS, Timedelta } from "./dates.ts";
import { extreme, LIST_FUNCTIONS, LIST_ONLY_FUNCTIONS } from "./lists.ts";
import { MATH_FUNCTIONS, orDefault } from "./maths.ts";
import { local, TIME_FUNCTIONS, TIME_ONLY_FUNCTIONS } from "./moments.ts";
import { limited, toFloat, toInt } from "./numbers.ts";
import { TEXT_FUNCTIONS, TEXT_ONLY_FUNCTIONS } from "./texts.ts";
import { isNumber, isTrue, Members, Missing, OMITTED, Tuple, type Value } from "./values.ts";

const TRUE = ["1", "true", "yes", "on", "enable"];
const FALSE = ["0", "false", "no", "off", "disable"];

function toBoolean(value: Value): boolean | undefined {
  if (typeof value !== "string") return isNumber(value) ? isTrue(value) : undefined;
  const word = value.trim().toLowerCase();
  return TRUE.includes(word) || (FALSE.includes(word) ? false : undefined);
}

export const isNumberLike = takes("value", (_, value) => Number.isFinite(toFloat(value)));

const both: Readonly<Record<string, Builtin>> = {
  ...LIST_FUNCTIONS,
  ...MATH_FUNCTIONS,
  ...TEXT_FUNCTIONS,
  ...TIME_FUNCTIONS,
  bool: takes("value default?", (_, value, otherwise) =>
    orDefault(toBoolean(value), otherwise, value, "a boolean"),
  ),
  float: takes("value default?", (_, value, otherwise) =>
    orDefault(toFloat(value), otherwise, value, "a number"),
  ),
  iif: takes("value if_true? if_false? if_none?", (_, value, then, otherwise, none) => {
    if (value === null && none !== OMITTED) return none;
    if (isTrue(value)) return then === OMITTED ? true : then;
    return otherwise === OMITTED ? false : otherwise;
  }),
  int: takes("value default? base?", (_, value, otherwise, base) => {
    const whole = toInt(value, intOr(base, 10));
    return orDefault(whole === undefined ? undefined : limited(whole), otherwise, value, "a number");
  }),
  is_number: isNumberLike,
};

/** As a function it takes the items also one by one. */
function extremeOf(sign: number): Builtin {
  return (run, positional, named) =>
    extreme(sign)(run, positional.length > 1 ? [Tuple.from(positional)] : positional, named);
}

const range = takes("start stop? step?", (run, start, stop, step) => {
  const from = stop === OMITTED ? 0 : intOr(start, 0);
  const to = intOr(stop === OMITTED ? start : stop, 0);
  const by = intOr(step, 1);
  if (by === 0) throw new TemplateProblem("counts in steps of 0");
  const length = Math.max(0, Math.ceil((to - from) / by));
  run.budget.spend(length);
  return Array.from({ length }, (_, at) => BigInt(from + at * by));
});

const timedelta: Builtin = (_, positional, named) => {
  const units = [...TIMEDELTA_UNITS.keys()];
  let micros = 0;
  for (const [unit, value] of [
    ...positional.map((value, at) => [units[at] ?? "", value] as const),
    ...named,
  ]) {
    const size = TIMEDELTA_UNITS.get(unit);
    if (size === undefined) throw new TemplateProblem(`has a duration of "${unit}", which is not known here`);
    if (value instanceof Missing) throw value.problem();
    const count = isNumber(value) ? Number(value) : undefined;
    micros += Number(orDefault(count, OMITTED, value, `a number of ${unit}`)) * size;
  }
  return new Timedelta(micros);
};

const utcnow = (run: Run) => fromTimestamp(run.now.getTime() / 1_000);

export const FUNCTIONS: ReadonlyMap<string, Builtin> = new Map(
  Object.entries({
    ...both,
    ...LIST_ONLY_FUNCTIONS,
    ...TEXT_ONLY_FUNCTIONS,
    ...TIME_ONLY_FUNCTIONS,
    max: extremeOf(1),
    min: extremeOf(-1),
    namespace: (_, __, named) => new Members(named),
    now: takes("", (run) => local(run, utcnow(run))),
    range,
    timedelta,
    utcnow: takes("", utcnow),
  } satisfies Record<string, Builtin>),
);

/** Names that stand for a number. */
export const CONSTANTS: ReadonlyMap<string, Value> = new Map([
  ["e", Math.E],
  ["pi", Math.PI],
  ["tau", 2 * Math.PI],
]);

/** Those of the functions that are also filters. */
export const FUNCTION_FILTERS: Readonly<Record<string, Builtin>> = {
  ...both,
  max: extreme(1),
  min: extreme(-1),
};
