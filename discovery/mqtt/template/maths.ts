/** The functions of numbers that are also filters. */
import { TemplateProblem } from "./budget.ts";
import { type Builtin, intOr, itemsOf, type Run, takes, textOr } from "./calls.ts";
import { calculate, limited, rounded, toFloat } from "./numbers.ts";
import {
  compare,
  isEqual,
  isNumber,
  keyOf,
  Missing,
  OMITTED,
  toNumber,
  typeName,
  type Value,
} from "./values.ts";

/** The made value; else the parameter "default"; else a problem. */
export function orDefault(made: Value | undefined, otherwise: Value, input: Value, right: string): Value {
  if (made !== undefined) return made;
  if (otherwise !== OMITTED) return otherwise;
  const found = typeof input === "string" ? JSON.stringify(input.slice(0, 50)) : typeName(input);
  throw new TemplateProblem(`has ${found} where ${right} would be right`);
}

/** A function of one float. Without a result, as the root of a negative number, the default counts. */
function ofFloat(make: (value: number) => number): Builtin {
  return takes("value default?", (_, value, otherwise) => {
    const number = toFloat(value);
    const made = number === undefined ? Number.NaN : make(number);
    const isKnown = number !== undefined && (!Number.isNaN(made) || Number.isNaN(number));
    return orDefault(isKnown ? made : undefined, otherwise, value, "a number in its range");
  });
}

function finite(make: (value: number) => number): (value: number) => number {
  return (value) => (Number.isFinite(value) || Number.isNaN(value) ? make(value) : Number.NaN);
}

/** Values as a list, or one by one. @returns also the default, which may follow a list */
function valuesOf(
  run: Run,
  [first, ...rest]: readonly Value[],
  named: ReadonlyMap<string, Value>,
): [Value[], Value] {
  if (first === undefined) throw new TemplateProblem('leaves out the parameter "values"');
  const isList = !isNumber(first) && first !== null;
  if (!isList && rest.length === 0) throw new TemplateProblem("has one number where a list would be right");
  const otherwise = named.get("default") ?? (isList ? rest[0] : undefined) ?? OMITTED;
  return [isList ? itemsOf(run, first) : [first, ...rest], otherwise];
}

function ofValues(make: (run: Run, values: Value[]) => Value | undefined): Builtin {
  return (run, positional, named) => {
    const [values, otherwise] = valuesOf(run, positional, named);
    return orDefault(make(run, values), otherwise, values, "a list of numbers");
  };
}

function numbersOf(values: readonly Value[]): number[] | undefined {
  return values.length > 0 && values.every(isNumber) ? values.map(Number) : undefined;
}

function median(run: Run, values: readonly Value[]): Value | undefined {
  if (!numbersOf(values)) return undefined;
  const sorted = [...values].sort((a, b) => compare(a, b, run.budget));
  const [low, high] = [sorted[(sorted.length - 1) >> 1] ?? 0n, sorted[sorted.length >> 1] ?? 0n];
  if (sorted.length % 2 === 1) return low;
  return calculate("/", calculate("+", low, high, run.budget), 2n, run.budget);
}

function mode(run: Run, values: readonly Value[]): Value | undefined {
  const counts = new Map<string, { value: Value; count: number }>();
  run.budget.spend(values.length);
  for (const value of values) {
    const entry = counts.get(keyOf(value)) ?? { value, count: 0 };
    entry.count += 1;
    counts.set(keyOf(value), entry);
  }
  return [...counts.values()].reduce<{ value?: Value; count: number }>(
    (best, one) => (one.count > best.count ? one : best),
    { count: 0 },
  ).value;
}

function bits(make: (a: bigint, b: bigint) => bigint): Builtin {
  return takes("first_value second_value", (_, a, b) => {
    if (!isNumber(a) || !isNumber(b) || typeof a === "number" || typeof b === "number")
      throw new TemplateProblem("has bits of what is no whole number");
    const made = make(BigInt(a), BigInt(b));
    return typeof a === "boolean" && typeof b === "boolean" ? made === 1n : limited(made);
  });
}

/** All of them as floats. */
function floats(...values: Value[]): number[] {
  return values.map((value) => {
    const number = toFloat(value);
    if (number === undefined)
      throw new TemplateProblem("has what is no number where a number would be right");
    return number;
  });
}

/** Python's float modulo: its sign is the divisor's. */
function modulo(a: number, b: number): number {
  const rest = a % b;
  return rest !== 0 && rest < 0 !== b < 0 ? rest + b : rest;
}

const remap = takes(
  "value in_min in_max out_min out_max steps? edges?",
  (_, value, inMin, inMax, outMin, outMax, steps, edges) => {
    const [given = 0, low = 0, high = 0, outLow = 0, outHigh = 0] = floats(
      value,
      inMin,
      inMax,
      outMin,
      outMax,
    );
    const edge = textOr(edges, "none");
    const size = high - low;
    if (size === 0 && (edge === "wrap" || edge === "mirror")) throw new TemplateProblem("divides by zero");
    let at = given;
    if (edge === "clamp") at = Math.max(low, Math.min(high, given));
    else if (edge === "wrap") at = modulo(given - low, size) + low;
    else if (edge === "mirror") {
      const period = Math.floor((given - low) / size);
      const within = given - low - period * size;
      at = low + (period % 2 === 0 ? within : size - within);
    }
    const count = Math.max(0, intOr(steps, 0));
    if (count === 0 && low === outLow && high === outHigh) return at;
    if (size === 0) throw new TemplateProblem("divides by zero");
    const share = (at - low) / size;
    const stepped = count > 0 ? rounded(share * count, 0) / count : share;
    const made = outLow + stepped * (outHigh - outLow);
    if (edge !== "clamp") return made;
    return Math.max(Math.min(outLow, outHigh), Math.min(Math.max(outLow, outHigh), made));
  },
);

const atan2: Builtin = (run, positional, named) => {
  const [first, ...rest] = positional;
  const isList = Array.isArray(first);
  const [y, x] = isList ? itemsOf(run, first) : positional;
  const otherwise = named.get("default") ?? (isList ? rest[0] : rest[1]) ?? OMITTED;
  const [a, b] = [y ?? null, x ?? null].map((value) => toFloat(value));
  return orDefault(
    a === undefined || b === undefined ? undefined : Math.atan2(a, b),
    otherwise,
    y ?? null,
    "a number",
  );
};

const log = takes("value base? default?", (_, value, base, otherwise) => {
  const [number, of] = [toFloat(value), base === OMITTED ? Math.E : toFloat(base)];
  const isKnown = number !== undefined && of !== undefined && number > 0 && of > 0 && of !== 1;
  const made = isKnown ? Math.log(number) / Math.log(of) : undefined;
  return orDefault(made, otherwise, value, "a number above 0");
});

export const MATH_FUNCTIONS: Readonly<Record<string, Builtin>> = {
  acos: ofFloat(Math.acos),
  asin: ofFloat(Math.asin),
  atan: ofFloat(Math.atan),
  atan2,
  average: ofValues((_, values) => {
    const numbers = numbersOf(values);
    return numbers && numbers.reduce((sum, one) => sum + one, 0) / numbers.length;
  }),
  bitwise_and: bits((a, b) => a & b),
  bitwise_or: bits((a, b) => a | b),
  bitwise_xor: bits((a, b) => a ^ b),
  clamp: takes("value min_value max_value", (_, value, min, max) => {
    const [number = 0, low = 0, high = 0] = floats(value, min, max);
    return Math.max(low, Math.min(high, number));
  }),
  cos: ofFloat(finite(Math.cos)),
  log,
  median: ofValues(median),
  remap,
  sin: ofFloat(finite(Math.sin)),
  sqrt: ofFloat(Math.sqrt),
  statistical_mode: ofValues(mode),
  tan: ofFloat(finite(Math.tan)),
  wrap: takes("value min_value max_value", (_, value, min, max) => {
    const [number = 0, low = 0, high = 0] = floats(value, min, max);
    if (high === low) return low;
    const made = modulo(number - low, high - low) + low;
    return high > low && made >= high ? low : made;
  }),
};

function changed(operator: "+" | "*"): Builtin {
  return takes("value amount default?", (run, value, amount, otherwise) => {
    const number = toFloat(value);
    const made = number === undefined ? undefined : calculate(operator, number, amount, run.budget);
    return orDefault(made, otherwise, value, "a number");
  });
}

export const MATH_FILTERS: Readonly<Record<string, Builtin>> = {
  ...MATH_FUNCTIONS,
  add: changed("+"),
  multiply: changed("*"),
};

function whole(value: Value): bigint | number {
  if (value instanceof Missing) throw value.problem();
  if (!isNumber(value)) throw new TemplateProblem("has what is no number where a number would be right");
  return toNumber(value);
}

function divides(run: Run, value: Value, by: bigint, rest: bigint): boolean {
  return isEqual(calculate("%", whole(value), by, run.budget), rest, run.budget);
}

export const MATH_TESTS: Readonly<Record<string, Builtin>> = {
  divisibleby: takes("value num", (run, value, num) =>
    isEqual(calculate("%", whole(value), whole(num), run.budget), 0n, run.budget),
  ),
  even: takes("value", (run, value) => divides(run, value, 2n, 0n)),
  odd: takes("value", (run, value) => divides(run, value, 2n, 1n)),
};
