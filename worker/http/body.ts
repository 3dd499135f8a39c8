/** Bodies of requests: read up to a limit, and checked. */
import { checkJson, type z } from "@edgecall/core/protocol/parse.ts";
import type { Context } from "hono";
import type { App } from "./app.ts";
import { HttpError } from "./errors.ts";

/** A question with a few pictures. */
const BODY_MAX_BYTES = 1024 * 1024;

/** A body whose length is known to be too large is not read at all; any other is read up to the limit. @throws HttpError 413 */
export async function readBytes(c: Context<App>, maxBytes: number): Promise<Uint8Array> {
  if (Number(c.req.header("content-length") ?? 0) > maxBytes) throw tooLarge(maxBytes);
  const reader = c.req.raw.body?.getReader();
  const parts: Uint8Array[] = [];
  let bytes = 0;
  if (reader) {
    for (let part = await next(reader); !part.done; part = await next(reader)) {
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

/** A client that hangs up or sends invalid chunks is not an error of the gateway. */
async function next(reader: ReadableStreamDefaultReader<Uint8Array>) {
  try {
    return await reader.read();
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
