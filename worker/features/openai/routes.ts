/**
 * OpenAI's routes: chat completions, responses and models. None of them can answer a question or an approval, because a model may
 * hold a client's token.
 */
import type { Context, Next } from "hono";
import { HTTPException } from "hono/http-exception";
import { type App, newRoutes } from "../../kernel/http/app.ts";
import { bearerToken, requireScope } from "../../kernel/http/auth.ts";
import { HttpError, noRoute } from "../../kernel/http/errors.ts";
import { logError } from "../../kernel/log.ts";
import { SettingsError } from "../../kernel/settings/settings-error.ts";
import { AuthSettingsError } from "../../kernel/settings/tokens.ts";
import { postChat } from "./chat-route.ts";
import { listedModels } from "./models.ts";
import {
  cancelResponse,
  deleteResponse,
  getInputItems,
  getResponse,
  postResponse,
} from "./response-routes.ts";

export const openai = newRoutes();

openai.post("/v1/chat/completions", needsToken, postChat);
openai.post("/v1/responses", needsToken, postResponse);
openai.get("/v1/responses/:id", needsToken, getResponse);
openai.get("/v1/responses/:id/input_items", needsToken, getInputItems);
openai.post("/v1/responses/:id/cancel", needsToken, cancelResponse);
openai.delete("/v1/responses/:id", needsToken, deleteResponse);

openai.get("/v1/models", needsToken, async (c) =>
  c.json({ object: "list", data: await listedModels(c.env, c.get("token").home) }),
);

/** Names of models may contain a slash. */
openai.get("/v1/models/:id{.+}", needsToken, async (c) => {
  const id = c.req.param("id") ?? "";
  const model = (await listedModels(c.env, c.get("token").home)).find((one) => one.id === id);
  if (!model) throw new HttpError(404, "model_not_found", `there is no model '${id.slice(0, 200)}'`);
  return c.json(model);
});

/** These clients know only OpenAI's form of an error, also for routes that do not exist. */
for (const path of ["/v1/chat/*", "/v1/responses/*", "/v1/models/*"])
  openai.all(path, needsToken, (c) => {
    throw noRoute(openai, c);
  });

openai.onError((error, c) => {
  const known = error instanceof HTTPException;
  if (!known) logError("request.failed", error, { path: c.req.path });
  const settings = error instanceof SettingsError || error instanceof AuthSettingsError;
  const status = known ? error.status : 500;
  const code = error instanceof HttpError ? error.code : settings ? "not_configured" : "internal";
  const param = error instanceof HttpError ? (error.param ?? null) : null;
  const message =
    known || settings ? error.message : "something went wrong in the gateway; its log has the reason";
  return c.json({ error: { message, type: typeOf(status), param, code } }, status);
});

async function needsToken(c: Context<App>, next: Next): Promise<void> {
  const token = await bearerToken(c);
  if (!token) {
    c.header("www-authenticate", 'Bearer realm="edgecall"');
    throw new HttpError(401, "invalid_api_key", "an API token of this gateway is needed as the API key");
  }
  c.set("token", token);
  requireScope(c, "ask");
  await next();
}

function typeOf(status: number): string {
  if (status === 401) return "authentication_error";
  if (status === 403) return "permission_error";
  if (status === 429) return "rate_limit_error";
  return status >= 500 ? "server_error" : "invalid_request_error";
}
