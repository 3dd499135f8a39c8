/**
 * Reading what a stranger sent: JSON text through a schema, with an error a person can act on.
 *
 * `zod/mini` keeps the Worker and the agent small (21 KB of gzip instead of 92 KB), but ships without
 * words for its errors; they are loaded here, once, for every program.
 */
import en from "zod/v4/locales/en.js";
import * as z from "./zod.ts";

z.config(en());

export { z };

/** A value that was read, or the reason why it was not, with the field named. */
export type Parsed<T> = { ok: true; value: T } | { ok: false; error: string };

/** Checks a value. The error names each wrong field: `payload.tool: Invalid input: expected string, …`. */
export function check<T>(schema: z.ZodMiniType<T>, value: unknown): Parsed<T> {
  const result = schema.safeParse(value);
  if (result.success) return { ok: true, value: result.data };
  return { ok: false, error: describeIssues(result.error.issues) };
}

/**
 * Far deeper than any schema of a tool or message of ours. JSON.parse takes any depth, but what passes a value on
 * (JSON.stringify, a call of an object) goes down by recursion, and would fall.
 */
const MAX_DEPTH = 100;

/** Parses JSON text and checks it. */
export function checkJson<T>(schema: z.ZodMiniType<T>, text: string): Parsed<T> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return { ok: false, error: `not JSON: ${error instanceof Error ? error.message : String(error)}` };
  }
  if (isTooDeep(value))
    return { ok: false, error: `more than ${MAX_DEPTH} lists and objects in one another` };
  return check(schema, value);
}

/** Whether a value of JSON.parse has more levels than anybody here goes down. */
export function isTooDeep(value: unknown): boolean {
  let level = [value].filter(isContainer);
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth === MAX_DEPTH) return true;
    level = level.flatMap((one) => Object.values(one).filter(isContainer));
  }
  return false;
}

function isContainer(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}

function describeIssues(issues: readonly z.core.$ZodIssue[]): string {
  const shown = issues.slice(0, 5).map((issue) => {
    const path = issue.path.map(String).join(".");
    return path ? `${path}: ${issue.message}` : issue.message;
  });
  if (issues.length > shown.length) shown.push(`and ${issues.length - shown.length} more`);
  return shown.join("; ");
}

/** What was made once is wanted at every call; a schema never changes, and leaves with its entry. */
const MADE = new WeakMap<z.ZodMiniType, Readonly<Record<string, unknown>>>();

/** The JSON Schema of a tool's input as a model is shown it (draft-7, defaults stay optional). */
export function jsonSchema(schema: z.ZodMiniType): Readonly<Record<string, unknown>> {
  const made = MADE.get(schema) ?? makeJsonSchema(schema);
  MADE.set(schema, made);
  return made;
}

function makeJsonSchema(schema: z.ZodMiniType): Record<string, unknown> {
  // "input": with the default "output", fields that have a default would be listed as required.
  const { $schema: _, ...rest } = z.toJSONSchema(schema, {
    io: "input",
    target: "draft-7",
    override: ({ jsonSchema }) => {
      // zod writes these bounds for every integer; a model pays for them in tokens and learns nothing.
      if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
      if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
    },
  });
  return rest;
}
