/** Reads the body of a request, up to a limit. fields.ts reads the values of its path, query and headers. */
import { checkJson, type z } from "@edgecall/core/protocol/parse.ts";
import type { Context } from "hono";
import type { App } from "./app.ts";
import { HttpError } from "./errors.ts";

export const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

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

/** @param isOptional an empty body counts as `{}` @throws HttpError 400, 413 */
export async function readBody<T>(c: Context<App>, schema: z.ZodMiniType<T>, isOptional = false): Promise<T> {
  return bodyOf(schema, await readText(c), isOptional);
}

/** @param text of the request's body @throws HttpError 400 */
export function bodyOf<T>(schema: z.ZodMiniType<T>, text: string, isOptional = false): T {
  const body = checkJson(schema, isOptional && text === "" ? "{}" : text);
  if (!body.ok) throw new HttpError(400, "invalid_body", body.error);
  return body.value;
}
