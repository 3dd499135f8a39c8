/**
 * Prepares the tool schema of a device or an MCP server for a model. A single property name that a model's endpoint refuses
 * would make it refuse all tools, and descriptions are a stranger's text. So only known keywords are copied, with bounds.
 * The program that runs the tool checks the arguments itself.
 */
import { isObject } from "../protocol/is-object.ts";
import { oneLine } from "./one-line.ts";

export type ToolSchema = { type: "object"; properties?: Record<string, object>; [keyword: string]: unknown };

/** Largest schema as JSON. */
const SCHEMA_MAX_CHARS = 8_000;
const DEPTH_MAX = 8;
const WORDS_MAX = 300;
/** Model endpoints refuse any other property name. */
const PROPERTY = /^[A-Za-z0-9_.-]{1,64}$/;

const SCHEMAS = ["items", "additionalProperties"];
const LISTS_OF_SCHEMAS = ["anyOf", "oneOf", "allOf"];
const WORDS = ["title", "description"];
const NUMBERS = [
  "minimum",
  "maximum",
  "exclusiveMinimum",
  "exclusiveMaximum",
  "multipleOf",
  "minLength",
  "maxLength",
  "minItems",
  "maxItems",
];
const TYPES = ["string", "number", "integer", "boolean", "object", "array", "null"];

/** Accepts any object; used when the original schema cannot be shown. */
const ANY_OBJECT: ToolSchema = { type: "object" };

export function foreignSchema(parameters: Record<string, unknown>): ToolSchema {
  const copied = copySchema(parameters, 0);
  if (!isObject(copied) || !["object", undefined].includes(copied.type as string | undefined))
    return ANY_OBJECT;
  const schema: ToolSchema = { ...copied, type: "object" };
  return JSON.stringify(schema).length <= SCHEMA_MAX_CHARS ? schema : ANY_OBJECT;
}

/** Copies a schema; an invalid one becomes one that accepts everything. */
function copySchema(schema: unknown, depth: number): Record<string, unknown> | boolean {
  if (typeof schema === "boolean") return schema;
  if (!isObject(schema) || depth > DEPTH_MAX) return {};
  const copy: Record<string, unknown> = {};
  for (const [keyword, value] of Object.entries(schema)) {
    const taken = copyKeyword(keyword, value, depth);
    if (taken !== undefined) copy[keyword] = taken;
  }
  const { properties } = copy;
  if (isObject(properties) && Array.isArray(copy.required))
    copy.required = copy.required.filter((name) => Object.hasOwn(properties, String(name)));
  return copy;
}

function copyKeyword(keyword: string, value: unknown, depth: number): unknown {
  if (keyword === "type") return isType(value) ? value : undefined;
  if (keyword === "properties") return isObject(value) ? copyProperties(value, depth) : undefined;
  if (keyword === "required") return Array.isArray(value) ? value.filter(isText) : undefined;
  if (keyword === "enum") return Array.isArray(value) ? value.filter(isPlain) : undefined;
  if (keyword === "const" || keyword === "default") return isPlain(value) ? value : undefined;
  if (SCHEMAS.includes(keyword)) return copySchema(value, depth + 1);
  if (LISTS_OF_SCHEMAS.includes(keyword))
    return Array.isArray(value) && value.length > 0
      ? value.map((schema) => copySchema(schema, depth + 1))
      : undefined;
  if (WORDS.includes(keyword)) return isText(value) ? oneLine(value, WORDS_MAX) : undefined;
  if (NUMBERS.includes(keyword)) return typeof value === "number" ? value : undefined;
  return undefined;
}

function copyProperties(properties: Record<string, unknown>, depth: number): Record<string, unknown> {
  const entries = Object.entries(properties).filter(([name]) => PROPERTY.test(name) && name !== "__proto__");
  return Object.fromEntries(entries.map(([name, schema]) => [name, copySchema(schema, depth + 1)]));
}

function isType(value: unknown): boolean {
  const types: unknown[] = Array.isArray(value) ? value : [value];
  return types.length > 0 && types.every((type) => isText(type) && TYPES.includes(type));
}

/** Whether a value may be in a list of choices. */
function isPlain(value: unknown): boolean {
  return value === null || ["string", "number", "boolean"].includes(typeof value);
}

function isText(value: unknown): value is string {
  return typeof value === "string";
}
