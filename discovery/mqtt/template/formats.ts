/** Python's str.format, with the parts of its language that numbers and texts need. */
import { TemplateProblem } from "./budget.ts";
import type { Run } from "./calls.ts";
import { itemOf, memberOf } from "./members.ts";
import { fixed, toInt } from "./numbers.ts";
import { floatText, isNumber, textOf, toNumber, typeName, type Value } from "./values.ts";

const FIELD = /\{\{|\}\}|\{([^{}:!]{0,200})(?:!([rsa]))?(?::([^{}]{0,50}))?\}|[{}]/g;
const SPEC = /^(?:(.)?([<>=^]))?([-+ ]?)(0?)(\d{0,5})([,_]?)(?:\.(\d{1,3}))?([a-zA-Z%]?)$/su;

export function formatText(
  run: Run,
  template: string,
  positional: readonly Value[],
  named: ReadonlyMap<string, Value>,
): string {
  let next = 0;
  const text = template.replace(FIELD, (part, field: string | undefined, _, spec = "") => {
    if (part === "{{" || part === "}}") return part.charAt(0);
    if (field === undefined) throw new TemplateProblem(`has a format with a ${part} that is alone`);
    const [head = "", ...path] = field.split(/\.|\[|\]\.?/).filter((one, at) => at === 0 || one !== "");
    let value =
      head === "" ? positional[next++] : /^\d{1,4}$/.test(head) ? positional[Number(head)] : named.get(head);
    if (value === undefined) throw new TemplateProblem("has a format with too few values");
    for (const key of path)
      value = /^\d{1,9}$/.test(key) ? itemOf(run, value, BigInt(key)) : itemOrMember(run, value, key, field);
    return run.budget.text(formatValue(run, value, spec));
  });
  return run.budget.text(text);
}

function itemOrMember(run: Run, value: Value, key: string, field: string): Value {
  return field.includes("[") ? itemOf(run, value, key) : memberOf(value, key);
}

/** One value by a format such as `>8.2f`. */
function formatValue(run: Run, value: Value, spec: string): string {
  if (spec === "") return textOf(value, run.budget);
  const [, fill, align, sign = "", zero, width, comma, precision, kind] = SPEC.exec(spec) ?? [];
  if (width === undefined) throw new TemplateProblem(`has the format "${spec}", which is not known here`);
  const isNumeric = isNumber(value) && (typeof value !== "boolean" || !["", "s"].includes(kind ?? ""));
  const digits = precision === undefined || precision === "" ? undefined : Number(precision);
  const made = isNumeric
    ? numberText(toNumber(value), kind ?? "", digits, comma ?? "")
    : plainText(run, value, kind ?? "", digits, spec);
  const minus = made.startsWith("-") && isNumeric ? "-" : "";
  const before = minus || (isNumeric && (sign === "+" || sign === " ") ? sign : "");
  const body = made.slice(minus.length);
  const room = Math.max(0, Number(width) - [...before, ...body].length);
  run.budget.reserve(room);
  const side = align ?? (zero !== "" && isNumeric ? "=" : isNumeric ? ">" : "<");
  const pad = (fill ?? (zero !== "" ? "0" : " ")).repeat(room);
  if (side === "=") return before + pad + body;
  if (side === "<") return before + body + pad;
  if (side === ">") return pad + before + body;
  const left = Math.floor(room / 2);
  return pad.slice(0, left) + before + body + pad.slice(left);
}

function plainText(run: Run, value: Value, kind: string, digits: number | undefined, spec: string): string {
  if (kind !== "" && kind !== "s")
    throw new TemplateProblem(`has ${typeName(value)} in the format "${spec}", which is one for a number`);
  return [...textOf(value, run.budget)].slice(0, digits).join("");
}

function numberText(value: number | bigint, kind: string, digits: number | undefined, comma: string): string {
  if (digits !== undefined && digits > 60) throw new TemplateProblem("has a format with over 60 decimals");
  const whole = "bcdoxX".includes(kind) && kind !== "" ? toInt(value) : undefined;
  if (kind === "" && typeof value === "bigint" && digits === undefined) return grouped(String(value), comma);
  if (whole !== undefined && typeof value === "bigint") {
    const base = { b: 2, o: 8, x: 16, X: 16 }[kind] ?? 10;
    const text = whole.toString(base);
    return grouped(kind === "X" ? text.toUpperCase() : text, comma);
  }
  const number = Number(value);
  if (!Number.isFinite(number)) return floatText(number);
  if (kind === "f" || kind === "F") return grouped(fixed(number, digits ?? 6), comma);
  if (kind === "%") return `${grouped(fixed(number * 100, digits ?? 6), comma)}%`;
  if (kind === "e" || kind === "E") {
    const text = number.toExponential(digits ?? 6).replace(/e([+-])(\d)$/, "e$10$2");
    return kind === "E" ? text.toUpperCase() : text;
  }
  if (kind === "g" || (kind === "" && digits !== undefined)) return general(number, digits ?? 6, kind === "");
  if (kind === "") return grouped(floatText(number), comma);
  throw new TemplateProblem(`has a format for a number that is not known here: ${kind}`);
}

/** Formats a number with so many significant digits, without zeros at the end. */
function general(number: number, digits: number, withPoint: boolean): string {
  const precision = Math.max(1, digits);
  const exponent = number === 0 ? 0 : Number(number.toExponential(precision - 1).split("e")[1]);
  const trimmed = (text: string) => (text.includes(".") ? text.replace(/0+$/, "").replace(/\.$/, "") : text);
  if (exponent >= -4 && exponent < precision - (withPoint ? 1 : 0)) {
    const text = trimmed(fixed(number, Math.max(0, precision - 1 - exponent)));
    return withPoint && !text.includes(".") ? `${text}.0` : text;
  }
  const [mantissa = "", power = ""] = number.toExponential(precision - 1).split("e");
  return `${trimmed(mantissa)}e${power.replace(/^([+-])(\d)$/, "$10$2")}`;
}

function grouped(text: string, comma: string): string {
  if (comma === "") return text;
  const [, sign = "", digits = "", rest = ""] = /^(-?)([\da-fA-F]+)(.*)$/.exec(text) ?? [];
  const parts: string[] = [];
  for (let end = digits.length; end > 0; end -= 3) parts.unshift(digits.slice(Math.max(0, end - 3), end));
  return sign + parts.join(comma) + rest;
}
