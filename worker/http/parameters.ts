/** Values from the path and the query of a request, checked before they name an object or a row. */
import type { Context } from "hono";
import type { App } from "./app.ts";
import { HttpError } from "./errors.ts";

export const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** @param what the value has to be, for the error @throws HttpError 400 */
export function pathName(c: Context<App>, name: string, form: RegExp, what: string): string {
  const value = c.req.param(name) ?? "";
  if (form.test(value)) return value;
  throw new HttpError(400, "invalid_path", `${name}: expected ${what}`);
}

/** @returns whether the query says yes; without the parameter: no @throws HttpError 400 */
export function readYesOrNo(c: Context<App>, name: string): boolean {
  const text = c.req.query(name) ?? "no";
  if (text !== "yes" && text !== "no")
    throw new HttpError(400, "invalid_query", `${name}: expected yes or no`);
  return text === "yes";
}

/** @throws HttpError 400 */
export function readWholeNumber(
  c: Context<App>,
  name: string,
  { fallback, min = 1, max }: { fallback: number; min?: number; max: number },
): number {
  const text = c.req.query(name);
  const value = text === undefined ? fallback : Number(text);
  if (Number.isInteger(value) && value >= min && value <= max) return value;
  throw new HttpError(400, "invalid_query", `${name}: expected a whole number from ${min} to ${max}`);
}
