/** Python's int(), float(), round() and the operators. */
import type { TemplateBudget } from "./budget.ts";
import { TemplateProblem } from "./budget.ts";
import { Datetime, Timedelta } from "./dates.ts";
import { isNumber, Missing, Tuple, textOf, toNumber, typeName, type Value } from "./values.ts";

/** Far more than a float has. */
const BITS_MAX = 1_100n;
const DIGITS_MAX = 300;
/** Characters of a text that may be a number. */
const FLOAT_MAX = 1_000;

/** @returns undefined: the value is no number */
export function toFloat(value: Value): number | undefined {
  if (isNumber(value)) return Number(value);
  if (value instanceof Missing) throw value.problem();
  if (typeof value !== "string") return undefined;
  const text = value.trim().toLowerCase();
  if (text.length > FLOAT_MAX) return undefined;
  if (/^[+-]?(?:\d+(?:_\d+)*(?:\.(?:\d+(?:_\d+)*)?)?|\.\d+(?:_\d+)*)(?:e[+-]?\d+)?$/.test(text))
    return Number(text.replaceAll("_", ""));
  const [, sign, name] = /^([+-]?)(inf|infinity|nan)$/.exec(text) ?? [];
  if (name === undefined) return undefined;
  return name === "nan" ? Number.NaN : sign === "-" ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY;
}

const BASES: ReadonlyMap<number, readonly [digits: RegExp, prefix: string]> = new Map([
  [2, [/^(?:0b)?[01]+$/i, "0b"]],
  [8, [/^(?:0o)?[0-7]+$/i, "0o"]],
  [10, [/^\d+$/, ""]],
  [16, [/^(?:0x)?[\da-f]+$/i, "0x"]],
]);

/** Home Assistant's int filter, for which the text "4.7" is 4. @returns undefined: the value is no number */
export function toInt(value: Value, base = 10): bigint | undefined {
  if (typeof value === "bigint" || typeof value === "boolean") return BigInt(value);
  const known = BASES.get(base);
  if (!known) throw new TemplateProblem("has an int with a base that is not 2, 8, 10 or 16");
  const [digits, prefix] = known;
  const trimmed = typeof value === "string" ? value.trim() : "";
  const text = trimmed.length > FLOAT_MAX ? "" : trimmed.replace(/(?<=\w)_(?=\w)/g, "");
  const size = text.replace(/^[+-]/, "");
  if (digits.test(size) && size.length <= DIGITS_MAX) {
    const whole = BigInt(
      prefix !== "" && !size.toLowerCase().startsWith(prefix) ? prefix + size : size.toLowerCase(),
    );
    return text.startsWith("-") ? -whole : whole;
  }
  const float = toFloat(value);
  return float !== undefined && Number.isFinite(float) ? BigInt(Math.trunc(float)) : undefined;
}

/** A number with so many decimals. Python rounds an exact half to the even digit, JavaScript upwards. */
export function fixed(value: number, decimals: number): string {
  const size = Math.abs(value);
  const sign = value < 0 || Object.is(value, -0) ? "-" : "";
  if (size >= 1e21) return `${sign}${BigInt(size)}${decimals > 0 ? `.${"0".repeat(decimals)}` : ""}`;
  const scaled = size * 2 ** (decimals + 1);
  // A half at this place has exactly one more bit than decimals.
  if (decimals < 60 && Number.isInteger(scaled) && scaled % 2 === 1) {
    const below = size.toFixed(decimals + 1).slice(0, decimals === 0 ? -2 : -1);
    if (Number(below.at(-1)) % 2 === 0) return sign + below;
  }
  return sign + size.toFixed(decimals);
}

/** Python's round() of a float. @param decimals fewer than 0: tens, hundreds … */
export function rounded(value: number, decimals: number): number {
  if (!Number.isFinite(value) || decimals > 60) return value;
  if (decimals >= 0) return Number(fixed(value, decimals));
  return decimals < -DIGITS_MAX ? 0 : Number(fixed(value / 10 ** -decimals, 0)) * 10 ** -decimals;
}

export type Operator = "+" | "-" | "*" | "/" | "//" | "%" | "**";

/** Python's arithmetic, also of texts, lists and times. */
export function calculate(operator: Operator, left: Value, right: Value, budget: TemplateBudget): Value {
  if (isNumber(left) && isNumber(right)) return ofNumbers(operator, toNumber(left), toNumber(right));
  for (const side of [left, right]) if (side instanceof Missing) throw side.problem();
  const made = ofOthers(operator, left, right, budget);
  if (made !== undefined) return made;
  throw new TemplateProblem(`has ${typeName(left)} ${operator} ${typeName(right)}`);
}

/** `-value` and `+value`. */
export function signed(sign: "minus" | "plus", value: Value): Value {
  if (value instanceof Missing) throw value.problem();
  if (value instanceof Timedelta) return sign === "plus" ? value : new Timedelta(-value.micros);
  if (!isNumber(value)) throw new TemplateProblem(`has ${typeName(value)} after a sign`);
  const number = toNumber(value);
  return sign === "plus" ? number : -number;
}

function ofNumbers(operator: Operator, left: bigint | number, right: bigint | number): Value {
  const isDivision = operator === "/" || operator === "//" || operator === "%";
  if (isDivision && Number(right) === 0) throw new TemplateProblem("divides by zero");
  if (typeof left === "bigint" && typeof right === "bigint" && operator !== "/") {
    if (operator !== "**" || right >= 0n) return limited(ofInts(operator, left, right));
  }
  const a = Number(left);
  const b = Number(right);
  if (operator === "+") return a + b;
  if (operator === "-") return a - b;
  if (operator === "*") return a * b;
  if (operator === "/") return a / b;
  if (operator === "**") return power(a, b);
  const rest = a % b;
  const modulo = rest !== 0 && rest < 0 !== b < 0 ? rest + b : rest;
  return operator === "//" ? Math.round((a - modulo) / b) : modulo === 0 ? b * 0 : modulo;
}

function ofInts(operator: Operator, left: bigint, right: bigint): bigint {
  if (operator === "+") return left + right;
  if (operator === "-") return left - right;
  if (operator === "*") return left * right;
  if (operator === "**") {
    const bits = BigInt(left.toString(2).length) * right;
    if (bits > 2n * BITS_MAX && left * left > 1n) throw tooLarge();
    return left ** right;
  }
  const rest = left % right;
  const modulo = rest !== 0n && rest < 0n !== right < 0n ? rest + right : rest;
  return operator === "%" ? modulo : (left - modulo) / right;
}

function power(base: number, exponent: number): number {
  if (base === 0 && exponent < 0) throw new TemplateProblem("divides by zero");
  const result = base ** exponent;
  if (base < 0 && !Number.isInteger(exponent)) throw new TemplateProblem("has a root of a negative number");
  if (!Number.isFinite(result) && Number.isFinite(base) && Number.isFinite(exponent)) throw tooLarge();
  return result;
}

/** Keeps ints at a size that is calculated and printed at once. */
export function limited(value: bigint): bigint {
  if (value >> BITS_MAX !== 0n && value >> BITS_MAX !== -1n) throw tooLarge();
  return value;
}

function tooLarge(): TemplateProblem {
  return new TemplateProblem("has a number that is too large");
}

function ofOthers(operator: Operator, left: Value, right: Value, budget: TemplateBudget): Value | undefined {
  if (operator === "%" && typeof left === "string")
    return printf(left, right instanceof Tuple ? right : [right], budget);
  if (operator === "-") return difference(left, right);
  if (operator === "*" || operator === "/" || operator === "//") return scaled(operator, left, right, budget);
  if (operator !== "+") return undefined;
  if (typeof left === "string" && typeof right === "string") {
    budget.reserve(left.length + right.length);
    return left + right;
  }
  if (Array.isArray(left) && Array.isArray(right) && left instanceof Tuple === right instanceof Tuple) {
    budget.spend(left.length + right.length);
    return left.concat(right);
  }
  if (left instanceof Timedelta && !(right instanceof Timedelta)) return ofOthers("+", right, left, budget);
  if (!(right instanceof Timedelta)) return undefined;
  if (left instanceof Timedelta) return new Timedelta(left.micros + right.micros);
  return left instanceof Datetime ? new Datetime(left.micros + right.micros, left.offset) : undefined;
}

/** A text or list so many times, or a duration by a number. */
function scaled(
  operator: "*" | "/" | "//",
  left: Value,
  right: Value,
  budget: TemplateBudget,
): Value | undefined {
  if (operator === "*" && isNumber(left))
    return isNumber(right) ? undefined : scaled("*", right, left, budget);
  if (left instanceof Timedelta) {
    const by = right instanceof Timedelta ? right.micros : isNumber(right) ? Number(right) : undefined;
    if (by === undefined || (operator === "*" && right instanceof Timedelta)) return undefined;
    if (operator === "*") return new Timedelta(left.micros * by);
    if (by === 0) throw new TemplateProblem("divides by zero");
    const made = left.micros / by;
    if (right instanceof Timedelta) return operator === "//" ? BigInt(Math.floor(made)) : made;
    return new Timedelta(operator === "//" ? Math.floor(made) : made);
  }
  if (operator !== "*" || typeof right === "number" || !isNumber(right)) return undefined;
  const times = Math.max(0, Math.min(Number(right), Number.MAX_SAFE_INTEGER));
  if (typeof left === "string") {
    budget.reserve(left.length * times);
    return left.repeat(left === "" ? 0 : times);
  }
  if (!Array.isArray(left)) return undefined;
  budget.spend(left.length * times);
  const items = Array.from({ length: left.length === 0 ? 0 : times }, () => left as Value[]).flat();
  return left instanceof Tuple ? Tuple.from(items) : items;
}

function difference(left: Value, right: Value): Value | undefined {
  const isDelta = right instanceof Timedelta;
  if (left instanceof Timedelta) return isDelta ? new Timedelta(left.micros - right.micros) : undefined;
  if (!(left instanceof Datetime)) return undefined;
  if (right instanceof Datetime && (left.offset === undefined) !== (right.offset === undefined))
    throw new TemplateProblem("has the difference of a time with a zone and one without");
  if (right instanceof Datetime) return new Timedelta(left.micros - right.micros);
  return isDelta ? new Datetime(left.micros - right.micros, left.offset) : undefined;
}

/** Python's `"%.1f" % value`, with the letters d, i, f, s, x and X. */
export function printf(format: string, values: readonly Value[], budget: TemplateBudget): string {
  let next = 0;
  const text = format.replace(
    /%([-+ 0#]*)(\d*)(?:\.(\d*))?(.?)/gsu,
    (_, flags: string, width, precision, letter) => {
      if (letter === "%") return "%";
      const value = values[next];
      next += 1;
      if (value === undefined) throw new TemplateProblem("has a % format with too few values");
      const made = formatted(value, letter, precision === undefined ? undefined : Number(precision), budget);
      const isNumeric = letter !== "s";
      const sign =
        made.startsWith("-") || !isNumeric ? "" : flags.includes("+") ? "+" : flags.includes(" ") ? " " : "";
      budget.reserve(Number(width));
      if (flags.includes("-")) return (sign + made).padEnd(Number(width));
      if (!flags.includes("0") || !isNumeric) return (sign + made).padStart(Number(width));
      const [, minus = "", digits = ""] = /^(-?)(.*)$/s.exec(made) ?? [];
      return minus + sign + digits.padStart(Number(width) - minus.length - sign.length, "0");
    },
  );
  if (next < values.length) throw new TemplateProblem("has a % format with too many values");
  return budget.text(text);
}

function formatted(
  value: Value,
  letter: string,
  precision: number | undefined,
  budget: TemplateBudget,
): string {
  if (precision !== undefined && precision > 60)
    throw new TemplateProblem("has a % format with over 60 decimals");
  if (letter === "s") return [...textOf(value, budget)].slice(0, precision).join("");
  if (!isNumber(value)) throw new TemplateProblem(`has ${typeName(value)} in a % format for a number`);
  const number = Number(value);
  if (letter === "f" && Number.isFinite(number)) return fixed(number, precision ?? 6);
  const whole = letter === "d" || letter === "i" || typeof value !== "number" ? toInt(value) : undefined;
  const base = { d: 10, i: 10, x: 16, X: 16 }[letter];
  if (whole === undefined || base === undefined)
    throw new TemplateProblem(`has a % format that is not known here: %${letter}`);
  const digits = whole.toString(base).padStart(precision ?? 0, "0");
  return letter === "X" ? digits.toUpperCase() : digits;
}
