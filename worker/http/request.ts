/** Reads and checks the values of a request: names in its path, its query, and its body up to a limit. */
import { checkJson, type z } from "@edgecall/core/protocol/parse.ts";
import type { Context } from "hono";
import type { App } from "./app.ts";
import { HttpError } from "./errors.ts";

export const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** @param what the expected form in words, for the error @throws HttpError 400 */
export function pathName(c: Context<App>, name: string, form: RegExp, what: string): string {
  const value = c.req.param(name) ?? "";
  if (form.test(value)) return value;
  throw new HttpError(400, "invalid_path", `${name}: expected ${what}`);
}

/** @returns true for `yes`; false for `no` or without the parameter @throws HttpError 400 */
export function readYesOrNo(c: Context<App>, name: string): boolean {
  const text = c.req.query(name) ?? "no";
  if (text !== "yes" && text !== "no")
    throw new HttpError(400, "invalid_query", `${name}: expected yes or no`);
  return text === "yes";
}

/** @returns undefined without the parameter, or when it is blank @throws HttpError 400 */
export function readWords(c: Context<App>, name: string, maxChars: number): string | undefined {
  const text = c.req.query(name)?.trim() ?? "";
  if (text.length > maxChars)
    throw new HttpError(400, "invalid_query", `${name}: expected at most ${maxChars} characters`);
  return text === "" ? undefined : text;
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

/** Enough for a question with a few pictures. */
const BODY_MAX_BYTES = 1024 * 1024;

/** A body that announces too great a length is not read at all; any other is read up to the limit. @throws HttpError 413 */
export async function readBytes(c: Context<App>, maxBytes: number): Promise<Uint8Array> {
  const announced = c.req.header("content-length");
  if (Number(announced ?? 0) > maxBytes) throw tooLarge(maxBytes);
  // HTTP ends a body at the length that it announces.
  if (announced !== undefined) return new Uint8Array(await unbroken(c.req.raw.arrayBuffer()));
  const reader = c.req.raw.body?.getReader();
  const parts: Uint8Array[] = [];
  let bytes = 0;
  if (reader) {
    for (let part = await unbroken(reader.read()); !part.done; part = await unbroken(reader.read())) {
      bytes += part.value.length;
      if (bytes > maxBytes) throw tooLarge(maxBytes);
      parts.push(part.value);
    }
  }
  const [only] = parts;
  if (parts.length === 1 && only) return only;
  const whole = new Uint8Array(bytes);
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

/** When a client hangs up or sends invalid chunks, that is the client's error. @throws HttpError 400 */
async function unbroken<T>(read: Promise<T>): Promise<T> {
  try {
    return await read;
  } catch {
    throw new HttpError(400, "invalid_body", "the body broke off, or is not framed as HTTP has it");
  }
}

function tooLarge(maxBytes: number): HttpError {
  return new HttpError(413, "too_large", `the body may hold ${maxBytes} bytes`);
}

export async function readText(c: Context<App>): Promise<string> {
  const bytes = await readBytes(c, BODY_MAX_BYTES);
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: false }).decode(bytes);
  } catch {
    throw new HttpError(400, "invalid_body", "the body is not UTF-8 text");
  }
}

export async function readBody<T>(c: Context<App>, schema: z.ZodMiniType<T>): Promise<T> {
  const body = checkJson(schema, await readText(c));
  if (!body.ok) throw new HttpError(400, "invalid_body", body.error);
  return body.value;
}
