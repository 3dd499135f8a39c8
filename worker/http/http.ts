/** What every route shares: errors in one form, bodies with a limit, and the caller's token. */
import { checkJson, type z } from "@edgecall/core/protocol/parse.ts";
import type { Context } from "hono";
import { HonoBase } from "hono/hono-base";
import { HTTPException } from "hono/http-exception";
import { TrieRouter } from "hono/router/trie-router";
import type { ContentfulStatusCode } from "hono/utils/http-status";
import type { Env } from "../env.ts";
import { type ApiToken, type Scope, stillCounts } from "./auth.ts";

export type App = { Bindings: Env; Variables: { token: ApiToken } };

/** The one router that takes every pattern: Hono's usual choice between two is 2 KiB of gzip more. */
export function newRoutes(): HonoBase<App> {
  return new HonoBase<App>({ router: new TrieRouter() });
}

export const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** A question with a few pictures. */
const BODY_MAX_BYTES = 1024 * 1024;

/** An answer that is an error: `{error: {code, message}}`. Thrown, and made into a response by the app. */
export class HttpError extends HTTPException {
  readonly code: string;
  /** The field that is wrong, for clients that look for it. */
  readonly param: string | undefined;

  constructor(status: ContentfulStatusCode, code: string, message: string, param?: string) {
    super(status, { message });
    this.code = code;
    this.param = param;
  }
}

/**
 * What no route answered: a path that is there for other methods says for which.
 * Middleware is there for every method, an unknown one too; what a method has more of is a route.
 */
export function noRoute(app: HonoBase<App>, c: Context<App>): HttpError {
  const { method, path } = c.req;
  const handlers = (of: string) => app.router.match(of, path)[0].length;
  const allow = ["GET", "POST", "PUT", "PATCH", "DELETE"]
    .filter((of) => handlers(of) > handlers("ANY"))
    .join(", ");
  if (!allow) return new HttpError(404, "not_found", `no such route: ${method} ${path}`);
  c.header("allow", allow);
  return new HttpError(405, "method_not_allowed", `${method} ${path}: expected ${allow}`);
}

export function errorBody(code: string, message: string): { error: { code: string; message: string } } {
  return { error: { code, message } };
}

/** Ours, with what OpenAI's clients look for in an error: they ask below `/v1` for more than is served here. */
export function openAiError(code: string, message: string, type: string) {
  return { error: { code, message, type, param: null } };
}

/** Reads a body up to the limit: what says that it is longer is not read, what does not say it is cut. */
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

/** A client that hangs up, or whose chunks are none, is no fault of ours. */
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

/** A wait may outlive its token. @throws HttpError, which ends it */
export async function requireCounts(env: Env, token: ApiToken): Promise<void> {
  if (await stillCounts(env, token)) return;
  throw new HttpError(401, "unauthorized", "this token counts no more");
}

export function requireScope(c: Context<App>, scope: Scope): ApiToken {
  const token = c.get("token");
  if (!token.scopes.includes(scope)) {
    throw new HttpError(403, "forbidden", `the token '${token.name}' does not have the scope '${scope}'`);
  }
  return token;
}

/** A name from the path, checked before it names an object or a row. */
export function pathName(c: Context<App>, name: string, form: RegExp, what: string): string {
  const value = c.req.param(name) ?? "";
  if (form.test(value)) return value;
  throw new HttpError(400, "invalid_path", `${name}: expected ${what}`);
}

/** @returns whether the query says yes; without the parameter: no */
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
