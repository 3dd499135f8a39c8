/**
 * The bounds of a parameter in a standing permission: exact values, sets, ranges, lists of numbers and files below a folder. There are no patterns, and
 * shell text is not read. A value that a bound does not name is outside it.
 */
import { z } from "../protocol/parse.ts";

/** Values of a set, numbers of a list, and characters of a text that is compared. */
export const VALUES_MAX = 64;
export const LIST_MAX = 16;
const TEXT_MAX = 1_000;
export const WRITTEN_MAX_BYTES = 1_048_576;

const text = z.string().check(z.maxLength(TEXT_MAX));
/** `z.number()` takes no NaN and no infinity. */
export const Value = z.union([text, z.number(), z.boolean(), z.null()]);
export type Value = z.infer<typeof Value>;

const PlainPath = z
  .string()
  .check(
    z.maxLength(TEXT_MAX),
    z.refine(isPlainPath, "expected an absolute path without '.', '..', hidden names, '\\' and controls"),
  );

const optional = z.optional(z.literal(true));

export const Bound = z.union([
  z.strictObject({ is: Value, optional }),
  z.strictObject({ oneOf: z.array(Value).check(z.minLength(1), z.maxLength(VALUES_MAX)), optional }),
  z
    .strictObject({ from: z.number(), to: z.number(), optional })
    .check(z.refine(({ from, to }) => from <= to, "expected 'from' that is not above 'to'")),
  /** A list of so many numbers, each within the range: a colour. */
  z
    .strictObject({
      each: z.strictObject({ from: z.number(), to: z.number() }),
      length: z.int().check(z.minimum(1), z.maximum(LIST_MAX)),
      optional,
    })
    .check(z.refine(({ each }) => each.from <= each.to, "expected 'from' that is not above 'to'")),
  /** Files below this folder, at any depth. */
  z.strictObject({ under: PlainPath, optional }),
  /** Any text of at most so many bytes of UTF-8: what is written to a file. */
  z.strictObject({
    any: z.literal("text"),
    max: z.int().check(z.minimum(1), z.maximum(WRITTEN_MAX_BYTES)),
    optional,
  }),
]);
export type Bound = z.infer<typeof Bound>;

/** The bounds of one action's parameters, by their names. A parameter that is not named is not allowed. */
export type Bounds = Readonly<Record<string, Bound>>;

/** @returns true if the value is within the bound. Values of another type never are: `"21"` is no number. */
export function isWithin(value: unknown, bound: Bound): boolean {
  if ("is" in bound) return value === bound.is;
  if ("oneOf" in bound) return bound.oneOf.some((one) => one === value);
  if ("from" in bound) return isInRange(value, bound);
  if ("each" in bound)
    return (
      Array.isArray(value) &&
      value.length === bound.length &&
      Array.from(value).every((one) => isInRange(one, bound.each))
    );
  if (typeof value !== "string") return false;
  if ("under" in bound) return isPlainPath(value) && value.startsWith(`${bound.under}/`);
  return value.isWellFormed() && new TextEncoder().encode(value).length <= bound.max;
}

function isInRange(value: unknown, { from, to }: { from: number; to: number }): boolean {
  return typeof value === "number" && value >= from && value <= to;
}

/**
 * @param parameters as the device would get them
 * @returns true if each is within its bound, and none is missing that has to be there
 */
export function areWithin(parameters: unknown, bounds: Bounds): boolean {
  if (!isPlainObject(parameters)) return false;
  const named = Object.keys(bounds).every(
    (name) => bounds[name]?.optional || Object.hasOwn(parameters, name),
  );
  // `Reflect.ownKeys` names what JSON cannot carry, too.
  return named && Reflect.ownKeys(parameters).every((name) => isNamed(name, parameters, bounds));
}

function isNamed(name: string | symbol, parameters: Record<string, unknown>, bounds: Bounds): boolean {
  if (typeof name !== "string" || !Object.hasOwn(bounds, name)) return false;
  const bound = bounds[name];
  return bound !== undefined && isWithin(parameters[name], bound);
}

function isPlainObject(value: unknown): value is Record<string, unknown> {
  if (typeof value !== "object" || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

/**
 * A path of which the text alone says where it is. A hidden name is none: programs run what stands in `.git` or `.config`.
 * The device that opens it resolves links and compares once more.
 */
export function isPlainPath(path: string): boolean {
  if (!path.startsWith("/") || !path.isWellFormed() || path.normalize("NFC") !== path) return false;
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is refused
  if (/[\\\u0000-\u001f\u007f-\u009f\p{Cf}]/u.test(path)) return false;
  return path
    .slice(1)
    .split("/")
    .every((part) => part !== "" && !part.startsWith("."));
}
