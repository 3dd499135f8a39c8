/** Whose request it is, and what they may do. How a token is known is in tokens.ts, a session of the console in session.ts. */
import type { Context, Next } from "hono";
import type { Env } from "../env.ts";
import type { ApiToken, BridgeToken, Scope } from "../settings/tokens.ts";
import type { App } from "./app.ts";
import { HttpError, openAiError } from "./errors.ts";
import { countAddress, countGuess, countToken } from "./rate-limits.ts";
import { sessionToken, showsSession } from "./session.ts";
import { findApiToken, findBridgeToken, isStillValid } from "./tokens.ts";

/** Middleware: lets nobody in without a token, and tells the routes behind it whose token it is. */
export async function requireToken(c: Context<App>, next: Next): Promise<Response | undefined> {
  const token = await callerToken(c);
  if (!token) {
    c.header("www-authenticate", 'Bearer realm="edgecall"');
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

/** @returns the caller's token @throws HttpError 403 */
export function requireScope(c: Context<App>, scope: Scope): ApiToken {
  const token = c.get("token");
  if (!token.scopes.includes(scope)) {
    throw new HttpError(403, "forbidden", `the token '${token.name}' does not have the scope '${scope}'`);
  }
  return token;
}

/** Asked again and again while a response lasts: it may outlive its token. @throws HttpError 401, which ends it */
export async function requireValid(env: Env, token: ApiToken): Promise<void> {
  if (await isStillValid(env, token)) return;
  throw new HttpError(401, "unauthorized", "this token counts no more");
}

/** The record of the request's bearer token; undefined: there is none, or a wrong one. @throws HttpError 429 */
export async function bearerToken(c: Context<App>): Promise<ApiToken | undefined> {
  const token = await checkCredential(c, () => findApiToken(c.req.raw, c.env, () => countGuess(c)));
  if (token) await countToken(c, token);
  return token;
}

/** The same, or the record behind the console's session. @throws HttpError 429; 403 when the session is used by another page */
export async function callerToken(c: Context<App>): Promise<ApiToken | undefined> {
  const bearer = await bearerToken(c);
  if (bearer) return bearer;
  const token = await sessionToken(c);
  if (token) await countToken(c, token);
  else if (showsSession(c)) await countGuess(c);
  return token;
}

/** The record of a bridge's bearer token, or undefined. @throws HttpError 429 */
export async function bridgeToken(c: Context<App>): Promise<BridgeToken | undefined> {
  return await checkCredential(c, () => findBridgeToken(c.req.raw, c.env));
}

/**
 * Looks at a credential that the caller may be guessing, and counts it.
 * @param look returns undefined for a wrong credential, or none
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
