/** Finds the caller of a request and checks their scopes. tokens.ts knows tokens, session.ts the console's sessions. */
import type { Context, Next } from "hono";
import type { Env } from "../env.ts";
import { issuerOf } from "../settings/oauth.ts";
import type { ApiToken, BridgeToken, Scope } from "../settings/tokens.ts";
import type { App } from "./app.ts";
import { HttpError, openAiError } from "./errors.ts";
import { countAddress, countGuess, countToken } from "./rate-limits.ts";
import { sessionOf, showsSession } from "./session.ts";
import { findApiToken, findBridgeToken, isStillValid } from "./tokens.ts";

/** Middleware: refuses a request without a valid token, and sets `token` for the routes behind it. */
export async function requireToken(c: Context<App>, next: Next): Promise<Response | undefined> {
  const token = await callerToken(c);
  if (!token) {
    c.header("www-authenticate", challengeOf(c));
    const message =
      c.req.header("authorization") === undefined
        ? "a bearer token is needed: 'Authorization: Bearer …'"
        : "this bearer token is not known here: it is mistyped, has ended, or belongs to another gateway";
    return c.json(openAiError("unauthorized", message, "authentication_error"), 401);
  }
  c.set("token", token);
  await next();
  return undefined;
}

/** Tells MCP's clients where they can sign in (RFC 9728 §5.1). */
function challengeOf(c: Context<App>): string {
  const issuer = c.req.path === "/mcp" ? issuerOf(c.env, c.req.url) : undefined;
  if (issuer === undefined) return 'Bearer realm="edgecall"';
  const wrong = c.req.header("authorization") === undefined ? "" : 'error="invalid_token", ';
  return `Bearer ${wrong}resource_metadata="${issuer}/.well-known/oauth-protected-resource/mcp", scope="ask"`;
}

/** @param or another scope that suffices as well @returns the caller's token @throws HttpError 403 */
export function requireScope(c: Context<App>, scope: Scope, or: Scope = scope): ApiToken {
  const token = c.get("token");
  if (!token.scopes.includes(scope) && !token.scopes.includes(or)) {
    throw new HttpError(403, "forbidden", `the token '${token.name}' does not have the scope '${scope}'`);
  }
  return token;
}

/** Called repeatedly during a long response, which may outlive its token. @throws HttpError 401, which ends the response */
export async function requireValid(env: Env, token: ApiToken): Promise<void> {
  if (await isStillValid(env, token)) return;
  throw new HttpError(401, "unauthorized", "this token counts no more");
}

/** @returns the record of the request's bearer token; undefined when the token is missing or wrong @throws HttpError 429 */
export async function bearerToken(c: Context<App>): Promise<ApiToken | undefined> {
  const token = await checkCredential(c, () => findApiToken(c.req.raw, c.env, () => countGuess(c)));
  if (token) await countToken(c, token);
  return token;
}

/** Takes a bearer token or a session of the console. @throws HttpError 429; 403 when another page uses the session */
export async function callerToken(c: Context<App>): Promise<ApiToken | undefined> {
  const bearer = await bearerToken(c);
  if (bearer) return bearer;
  const session = await sessionOf(c);
  if (session) {
    await countToken(c, session.token);
    c.set("session", { id: session.id });
  } else if (showsSession(c)) await countGuess(c);
  return session?.token;
}

/** @returns the record of a bridge's bearer token; undefined when it is missing or wrong @throws HttpError 429 */
export async function bridgeToken(c: Context<App>): Promise<BridgeToken | undefined> {
  return await checkCredential(c, () => findBridgeToken(c.req.raw, c.env));
}

/**
 * Checks a credential that the caller may be guessing, and counts the request.
 * @param look returns undefined for a wrong or missing credential
 * @throws HttpError 429
 */
export async function checkCredential<T>(
  c: Context<App>,
  look: () => Promise<T | undefined>,
): Promise<T | undefined> {
  await countAddress(c);
  const found = await look();
  if (found === undefined && c.req.header("authorization") !== undefined) await countGuess(c);
  return found;
}
