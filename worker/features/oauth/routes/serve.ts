/** Answers the requests of `/oauth/`. Loaded at the first of them, so that it costs nothing at the Worker's start. */
import type { Context } from "hono";
import type { App } from "../../../kernel/http/app.ts";
import { HttpError } from "../../../kernel/http/errors.ts";
import { countAddress, countGuess } from "../../../kernel/http/rate-limits.ts";
import { readBytes } from "../../../kernel/http/request.ts";
import { answerAuthorize, showAuthorize } from "./authorize.ts";
import { errorResponse, NO_STORE, OauthError } from "./error.ts";
import { registerClient, registeredClient, registrationView } from "./registered-client.ts";
import { giveToken, revokeToken } from "./token.ts";

const REGISTRATION_MAX_BYTES = 8 * 1024;

export type OauthRoute = "register" | "registered" | "authorize" | "consent" | "token" | "revoke";

export async function serveOauth(c: Context<App>, route: OauthRoute, issuer: string): Promise<Response> {
  try {
    return await ROUTES[route](c, issuer);
  } catch (error) {
    if (error instanceof OauthError) return errorResponse(error);
    throw error;
  }
}

const ROUTES: Readonly<Record<OauthRoute, (c: Context<App>, issuer: string) => Promise<Response>>> = {
  register,
  registered,
  authorize: showAuthorize,
  consent: answerAuthorize,
  token: giveToken,
  revoke: revokeToken,
};

async function register(c: Context<App>, issuer: string): Promise<Response> {
  await countAddress(c);
  await countGuess(c);
  let body: unknown;
  try {
    body = JSON.parse(new TextDecoder().decode(await readBytes(c, REGISTRATION_MAX_BYTES)));
  } catch (error) {
    if (error instanceof HttpError) throw error;
    throw new OauthError("invalid_client_metadata", "the body is not JSON");
  }
  const client = await registerClient(c.env, body);
  return Response.json(registrationView(client, issuer), { status: 201, headers: NO_STORE });
}

async function registered(c: Context<App>, issuer: string): Promise<Response> {
  await countAddress(c);
  const client = await registeredClient(c.env, c.req.param("id") ?? "");
  if (!client) throw new OauthError("invalid_client", "client_id: this gateway does not know it");
  return Response.json(registrationView(client, issuer), { headers: NO_STORE });
}
