/** A number as a device reported it: with the digits that it wrote, and in its own unit where it is told in another one. */

/** More characters are no measured number. */
const NUMBER_MAX = 100;
/** Exponents beyond these stay as they are written. */
const EXPONENT_MAX = 40;
/** A float of 64 bits is exact to this many digits. */
const FLOAT_DIGITS = 15;
/** Digits that a float holds exactly; the rest is the error of a calculation. */
const CLEAN_DIGITS = 12;

/** The form is that of Python's float() without its words and `_`: no hexadecimal, no decimal comma. */
const NUMBER = /^([+-]?)(\d+(?:\.\d*)?|\.\d+)(?:e([+-]?\d{1,3}))?$/i;

export class Quantity {
  /** In the unit in which it is told. Integers above 2^53 are rounded: `digits` has them. */
  readonly value: number;
  /** In the same unit, in decimals: `12345678`, `2.10`. */
  readonly digits: string;
  /** In the device's own unit: mireds, 0–254. */
  readonly own: number;

  private constructor(value: number, digits: string, own: number) {
    this.value = value;
    this.digits = digits;
    this.own = own;
  }

  /** @param own the same in the device's own unit, where it is another one */
  static of(value: number, own = value): Quantity {
    return new Quantity(value, digitsOf(String(value)) ?? String(value), own);
  }

  /** @returns undefined: the text is no finite number */
  static parse(text: string): Quantity | undefined {
    const digits = digitsOf(text);
    const value = Number(digits);
    return digits === undefined || !Number.isFinite(value) ? undefined : new Quantity(value, digits, value);
  }

  /** What a program gets: a text where JavaScript's numbers cannot hold it. */
  get plain(): number | string {
    const isWhole = /^-?\d+$/.test(this.digits);
    return isWhole && !Number.isSafeInteger(this.value) ? this.digits : this.value;
  }

  /** The digits, rounded half away from zero, or filled with zeros. */
  rounded(decimals: number): string {
    const { digits } = this;
    if (digits.includes("e")) return digits;
    const [whole = "", fraction = ""] = digits.replace("-", "").split(".");
    const kept = BigInt(whole + fraction.slice(0, decimals).padEnd(decimals, "0"));
    const scaled = kept + ((fraction[decimals] ?? "0") >= "5" ? 1n : 0n);
    const text = String(scaled).padStart(decimals + 1, "0");
    const at = text.length - decimals;
    const sign = digits.startsWith("-") && scaled > 0n ? "-" : "";
    return `${sign}${text.slice(0, at)}${decimals > 0 ? `.${text.slice(at)}` : ""}`;
  }
}

/** A number of our own in decimals. */
export function numberText(value: number): string {
  return Quantity.of(value).digits;
}

/** Decimal digits without leading zeros and without the error of a calculation. Zeros at the end are measured. */
function digitsOf(text: string): string | undefined {
  const trimmed = text.trim();
  if (trimmed.length > NUMBER_MAX) return undefined;
  const [, sign = "", mantissa, power = "0"] = NUMBER.exec(trimmed) ?? [];
  if (mantissa === undefined) return undefined;
  const exponent = Number(power);
  const size = Math.abs(exponent) > EXPONENT_MAX ? `${mantissa}e${exponent}` : shifted(mantissa, exponent);
  const isZero = !/[1-9]/.test(mantissa);
  const clean = withoutError(isZero ? size.replace(/e.*/, "") : size);
  return sign === "-" && !isZero ? `-${clean}` : clean;
}

/** The mantissa with its point moved. */
function shifted(mantissa: string, exponent: number): string {
  const [whole = "", fraction = ""] = mantissa.split(".");
  const point = whole.length + exponent;
  const digits = (whole + fraction).padEnd(point, "0").padStart((whole + fraction).length - point + 1, "0");
  const at = Math.max(point, 1);
  const ones = digits.slice(0, at).replace(/^0+(?=\d)/, "");
  const rest = digits.slice(at);
  return rest === "" ? ones : `${ones}.${rest}`;
}

/** 0.30000000000000004, the sum of two floats, is 0.3. */
function withoutError(digits: string): string {
  const value = Number(digits);
  if (String(value) !== digits || significant(digits) <= FLOAT_DIGITS) return digits;
  const clean = String(Number(value.toPrecision(FLOAT_DIGITS)));
  return !clean.includes("e") && significant(clean) <= CLEAN_DIGITS ? clean : digits;
}

function significant(digits: string): number {
  return digits.replace(/[-.]/g, "").replace(/^0+/, "").length;
}
