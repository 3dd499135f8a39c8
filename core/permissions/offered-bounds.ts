/**
 * Bounds that a card may offer for a call, and those of an action's whole range. A parameter that the call does not have is not in
 * them. What cannot be said exactly is not offered.
 */
import { isObject } from "../protocol/is-object.ts";
import {
  type Bound,
  type Bounds,
  isPlainPath,
  isWithin,
  LIST_MAX,
  VALUES_MAX,
  Value,
  WRITTEN_MAX_BYTES,
} from "./bounds.ts";

type Schema = Readonly<Record<string, unknown>>;

/** A thermostat's range is so many degrees around what was asked for. */
const DEGREES = 2;
const IS_TEMPERATURE = /^(?:temperature|low|high)$|_temperature$/;
/** The parameters of a light. One yes is for all of them: none harms more than the others. */
const OF_A_LIGHT: readonly string[] = ["on", "brightness_pct", "kelvin", "rgb"];
/** A text of one character takes at most so many bytes of UTF-8. */
const BYTES_A_CHARACTER = 4;
/** What a file may get, in bytes. */
const FILE_MAX_BYTES = 65_536;

/**
 * The whole range of an action.
 * @param schema JSON Schema of its parameters
 * @returns undefined: a parameter that it needs has a range that bounds cannot say
 */
export function wholeBounds(schema: Schema): Bounds | undefined {
  const bounds: Record<string, Bound> = {};
  for (const [name, property] of propertiesOf(schema)) {
    const isRequired = Array.isArray(schema.required) && schema.required.includes(name);
    const bound = wholeBound(property);
    if (bound) bounds[name] = isRequired ? bound : { ...bound, optional: true };
    else if (isRequired) return undefined;
  }
  return bounds;
}

function wholeBound(property: Schema): Bound | undefined {
  const { type, enum: values, minimum, maximum, maxLength } = property;
  if (Array.isArray(values)) {
    const isPlain = values.length > 0 && values.length <= VALUES_MAX && values.every(isValue);
    return isPlain ? { oneOf: values as Value[] } : undefined;
  }
  if (type === "boolean") return { oneOf: [true, false] };
  if (type === "integer" || type === "number") return range(minimum, maximum);
  if (type === "array") return listBound(property);
  if (type !== "string" || typeof maxLength !== "number" || maxLength < 1) return undefined;
  return { any: "text", max: Math.min(maxLength * BYTES_A_CHARACTER, WRITTEN_MAX_BYTES) };
}

function listBound({ items, minItems, maxItems }: Schema): Bound | undefined {
  const isFixed = typeof minItems === "number" && minItems === maxItems && minItems <= LIST_MAX;
  const each = isFixed && isObject(items) ? range(items.minimum, items.maximum) : undefined;
  return each && { each, length: minItems as number };
}

function range(from: unknown, to: unknown): { from: number; to: number } | undefined {
  const isRange = typeof from === "number" && typeof to === "number" && from <= to;
  return isRange && Number.isFinite(from) && Number.isFinite(to) ? { from, to } : undefined;
}

/**
 * The bounds of a card for this call: on and off of a switch, all per cent of a level, and a few degrees around a temperature. Any
 * other value stays as it was asked for. A person who may switch a light may dim and colour it.
 * @returns undefined: the call has a value that cannot be kept, such as a secret
 */
export function offeredBounds(schema: Schema, asked: Readonly<Record<string, unknown>>): Bounds | undefined {
  const bounds = boundsOf(schema, asked);
  const names = Object.keys(asked);
  if (!bounds || names.length === 0 || !names.every((name) => OF_A_LIGHT.includes(name))) return bounds;
  const light = propertiesOf(schema).filter(([name]) => OF_A_LIGHT.includes(name));
  // A switch has nothing beside it.
  if (light.length < 2) return bounds;
  const whole = light.flatMap(([name, property]): [string, Bound][] => {
    const bound = wholeBound(property);
    return bound ? [[name, { ...bound, optional: true }]] : [];
  });
  return { ...bounds, ...Object.fromEntries(whole) };
}

function boundsOf(schema: Schema, asked: Readonly<Record<string, unknown>>): Bounds | undefined {
  const properties = new Map(propertiesOf(schema));
  const bounds: Record<string, Bound> = {};
  for (const [name, value] of Object.entries(asked)) {
    const property = properties.get(name);
    const bound = property && property.writeOnly !== true ? offeredBound(name, property, value) : undefined;
    if (!bound || !isWithin(value, bound)) return undefined;
    bounds[name] = bound;
  }
  return bounds;
}

function offeredBound(name: string, property: Schema, value: unknown): Bound | undefined {
  if (property.type === "array") return listBound(property);
  if (!isValue(value)) return undefined;
  if (property.type === "boolean" && property.enum === undefined) return { oneOf: [true, false] };
  const isNumber = property.type === "number" || property.type === "integer";
  if (isNumber !== (typeof value === "number")) return undefined;
  const whole = range(property.minimum, property.maximum);
  if (!whole || typeof value !== "number") return { is: value };
  if (IS_TEMPERATURE.test(name))
    return { from: Math.max(whole.from, value - DEGREES), to: Math.min(whole.to, value + DEGREES) };
  const isLevel = whole.to === 100 && (whole.from === 0 || whole.from === 1);
  return isLevel || OF_A_LIGHT.includes(name) ? whole : { is: value };
}

/** The bounds of exactly these values. @returns undefined: one of them cannot be kept */
export function exactBounds(schema: Schema, asked: Readonly<Record<string, unknown>>): Bounds | undefined {
  const offered = boundsOf(schema, asked);
  if (!offered) return undefined;
  return Object.fromEntries(
    Object.entries(offered).map(([name, bound]) => {
      const value = asked[name];
      return [name, "from" in bound && typeof value === "number" ? { is: value } : bound];
    }),
  );
}

/**
 * The bounds for a file that is written: any text, in the folder of the path. A folder is offered only below a person's own folder or a
 * disk, and never one whose files something runs.
 * @returns undefined: none is offered
 */
export function folderBounds(asked: Readonly<Record<string, unknown>>): Bounds | undefined {
  const { path, content, ...more } = asked;
  if (typeof path !== "string" || typeof content !== "string" || Object.keys(more).length > 0)
    return undefined;
  const folder = path.slice(0, path.lastIndexOf("/"));
  const bytes = new TextEncoder().encode(content).length;
  if (bytes > FILE_MAX_BYTES || !isPlainPath(path) || !isOfferedFolder(folder)) return undefined;
  return { path: { under: folder }, content: { any: "text", max: FILE_MAX_BYTES } };
}

const OWN_FOLDER = /^\/(?:home\/[^/]+|srv|mnt\/[^/]+|media\/[^/]+)\/[^/]/;
/** Folders whose files programs run, or read as their settings. */
const RUN =
  /^(?:s?bin|lib\d*|libexec|scripts?|skills?|tools?|etc|autostart|systemd|cron\S*|node_modules|site-packages|venv|src|dist|build|plugins?|hooks?|desktop|applications|public_html|www|cgi-bin)$/i;

function isOfferedFolder(folder: string): boolean {
  return OWN_FOLDER.test(folder) && !folder.split("/").some((part) => RUN.test(part));
}

/** @returns the name of the first parameter whose bound is not within the offered one; undefined: all are */
export function widerThan(offered: Bounds, wanted: Bounds): string | undefined {
  for (const name of new Set([...Object.keys(offered), ...Object.keys(wanted)])) {
    const of = Object.hasOwn(offered, name) ? offered[name] : undefined;
    const to = Object.hasOwn(wanted, name) ? wanted[name] : undefined;
    if (!of) return name;
    if (!to) {
      if (!of.optional) return name;
    } else if ((to.optional && !of.optional) || !isInside(to, of)) return name;
  }
  return undefined;
}

function isInside(wanted: Bound, offered: Bound): boolean {
  if ("is" in wanted) return isWithin(wanted.is, offered);
  if ("oneOf" in wanted) return wanted.oneOf.every((one) => isWithin(one, offered));
  if ("from" in wanted) return "from" in offered && wanted.from >= offered.from && wanted.to <= offered.to;
  if ("each" in wanted)
    return (
      "each" in offered &&
      wanted.length === offered.length &&
      wanted.each.from >= offered.each.from &&
      wanted.each.to <= offered.each.to
    );
  if ("under" in wanted)
    return (
      "under" in offered && (wanted.under === offered.under || wanted.under.startsWith(`${offered.under}/`))
    );
  return "any" in offered && wanted.max <= offered.max;
}

/** Parameters of a schema that a permission can name. */
function propertiesOf({ properties }: Schema): [string, Schema][] {
  if (!isObject(properties)) return [];
  return Object.entries(properties).flatMap(([name, property]): [string, Schema][] =>
    isObject(property) && name !== "__proto__" && /^[A-Za-z0-9_.-]{1,64}$/.test(name)
      ? [[name, property]]
      : [],
  );
}

function isValue(value: unknown): value is Value {
  return Value.safeParse(value).success;
}
