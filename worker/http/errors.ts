/** How an error that no route has answered itself becomes a response. */
import type { Context } from "hono";
import type { HonoBase } from "hono/hono-base";
import { HTTPException } from "hono/http-exception";
import { logError } from "../log.ts";
import { SettingsError } from "../settings/settings.ts";
import { AuthSettingsError } from "./auth.ts";
import { type App, errorBody, HttpError, noRoute, openAiError } from "./http.ts";

/** What a route throws. Only errors that are no answer go to the log. */
export function answerError(error: Error, c: Context<App>): Response {
  if (error instanceof HttpError) return c.json(errorBody(error.code, error.message), error.status);
  if (error instanceof HTTPException)
    return c.json(errorBody("invalid_request", error.message), error.status);
  logError("request.failed", error, { path: c.req.path });
  if (error instanceof SettingsError || error instanceof AuthSettingsError)
    return c.json(errorBody("not_configured", error.message), 500);
  return c.json(errorBody("internal", "something went wrong in the gateway; its log has the reason"), 500);
}

export function answerNoRoute(app: HonoBase<App>, c: Context<App>): Response {
  const { code, message, status } = noRoute(app, c);
  return c.json(openAiError(code, message, "invalid_request_error"), status);
}
