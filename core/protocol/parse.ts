/**
 * Checks JSON from outside against a schema, with errors that a person can act on.
 *
 * `zod/mini` keeps the Worker and the agent small (21 KB gzip instead of 92 KB) but has no error texts; this module loads
 * them once for every program.
 */

import { toJSONSchema } from "zod/mini";
import en from "zod/v4/locales/en.js";
import { made } from "./deferred-schema.ts";
import * as z from "./zod.ts";

z.config(en());

export { z };

/** A checked value, or an error that names the field. */
export type Parsed<T> = { ok: true; value: T } | { ok: false; error: string };

export function wrong(error: string): { ok: false; error: string } {
  return { ok: false, error };
}

/** Checks a value. The error names each wrong field: `payload.tool: Invalid input: expected string, …`. */
export function check<T>(schema: z.ZodMiniType<T>, value: unknown): Parsed<T> {
  const result = schema.safeParse(value);
  if (result.success) return { ok: true, value: result.data };
  return { ok: false, error: describeIssues(result.error.issues) };
}

/**
 * Far deeper than any tool's schema or message of ours. JSON.parse takes any depth, but code that passes a value on
 * (JSON.stringify, a call of an object) recurses and would overflow the stack.
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

/** Whether a value of JSON.parse has more levels than MAX_DEPTH. */
export function isTooDeep(value: unknown, levels = MAX_DEPTH): boolean {
  if (typeof value !== "object" || value === null) return false;
  return levels === 0 || Object.values(value).some((one) => isTooDeep(one, levels - 1));
}

function describeIssues(issues: readonly z.core.$ZodIssue[]): string {
  const shown = issues.slice(0, 5).map((issue) => {
    const path = issue.path.map(String).join(".");
    return path ? `${path}: ${issue.message}` : issue.message;
  });
  if (issues.length > shown.length) shown.push(`and ${issues.length - shown.length} more`);
  return shown.join("; ");
}

/** A cache, since every call needs the JSON Schema and a schema never changes. */
const MADE = new WeakMap<z.ZodMiniType, Readonly<Record<string, unknown>>>();

/** Returns the JSON Schema of a tool's input for a model (draft-7; fields with a default stay optional). */
export function jsonSchema(schema: z.ZodMiniType): Readonly<Record<string, unknown>> {
  const known = MADE.get(schema);
  if (known) return known;
  const { $schema: _, ...json } = toJSONSchema(made(schema) as z.ZodMiniType, {
    io: "input",
    target: "draft-7",
    // The bounds of every whole number tell a model nothing.
    override: ({ jsonSchema: own }) => {
      if (own.minimum === Number.MIN_SAFE_INTEGER) delete own.minimum;
      if (own.maximum === Number.MAX_SAFE_INTEGER) delete own.maximum;
    },
  });
  MADE.set(schema, json);
  return json;
}
