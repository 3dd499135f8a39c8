/** The bounds of exactly these values: what a rule that acts is allowed, and nothing beside it. */
import { check } from "../protocol/parse.ts";
import { ActionBounds } from "./permission.ts";

/** @returns undefined: one of them cannot be said as a bound */
export function exactBounds(parameters: Readonly<Record<string, unknown>>): ActionBounds | undefined {
  const bounds = Object.entries(parameters).map(([name, value]) => [name, boundOf(value)]);
  const checked = check(ActionBounds, Object.fromEntries(bounds));
  // zod leaves a name like `__proto__` out.
  return checked.ok && Object.keys(checked.value).length === bounds.length ? checked.value : undefined;
}

/** A colour is a list of numbers. */
function boundOf(value: unknown): unknown {
  if (!Array.isArray(value)) return { is: value };
  return { each: { from: Math.min(...value), to: Math.max(...value) }, length: value.length };
}
