/** Errors as HTTP responses. A route throws an `HttpError`; the app makes the response. */
import type { Context } from "hono";
import type { HonoBase } from "hono/hono-base";
import { HTTPException } from "hono/http-exception";
import type { ContentfulStatusCode } from "hono/utils/http-status";
import { errorBody } from "../api/errors.ts";
import { rowsProblem } from "../api/rows-state.ts";
import { logError } from "../log.ts";
import { isNewerRows } from "../migrate.ts";
import { SettingsError } from "../settings/settings-error.ts";
import { AuthSettingsError } from "../settings/tokens.ts";
import type { App } from "./app.ts";

/** Becomes the response `{error: {code, message}}`. */
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

/** Our error with the fields that OpenAI's clients expect: they also ask for routes below `/v1` that are not served here. */
export function openAiError(code: string, message: string, type: string) {
  return { error: { code, message, type, param: null } };
}

/** Makes a response of an error that a route threw. Only unexpected errors go to the log. */
export async function answerError(error: Error, c: Context<App>): Promise<Response> {
  if (error instanceof HttpError) return c.json(errorBody(error.code, error.message), error.status);
  if (error instanceof HTTPException)
    return c.json(errorBody("invalid_request", error.message), error.status);
  logError("request.failed", error, { path: c.req.path });
  if (error instanceof SettingsError || error instanceof AuthSettingsError)
    return c.json(errorBody("not_configured", error.message), 500);
  if (isNewerRows(error)) return c.json(errorBody("newer_data", error.message), 503);
  const rows = await rowsProblem(error, c.env);
  if (rows) return c.json(errorBody(rows.code, `${rows.text}. ${rows.cure}`), 500);
  return c.json(errorBody("internal", "something went wrong in the gateway; its log has the reason"), 500);
}

export function answerNoRoute(app: HonoBase<App>, c: Context<App>): Response {
  const { code, message, status } = noRoute(app, c);
  return c.json(openAiError(code, message, "invalid_request_error"), status);
}

/**
 * A path that exists for other methods gets 405 and names them; any other path gets 404.
 * Middleware matches every method, an unknown one too, so a method with more matches than that has a route.
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
