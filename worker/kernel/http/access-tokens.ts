/**
 * The access tokens that OAuth gives to clients: `oat1.` and sealed claims. A wrong or expired one wakes no object. The grant
 * in Home decides the rest with each request, so a revoked grant ends at once.
 */

import { homeOf } from "../api/stubs.ts";
import type { Env } from "../env.ts";
import { issuerOf, resourceOf } from "../settings/oauth.ts";
import { type ApiToken, isNamedHome } from "../settings/tokens.ts";
import { HttpError } from "./errors.ts";
import { seal, unseal } from "./sealed.ts";

export const ACCESS_PREFIX = "oat1.";
export const ACCESS_LIFE_S = 3_600;
/** Where such a token counts: MCP, the files that its results link to, and the list of devices. */
const PLACES = /^(?:[A-Z]+ \/mcp|GET \/v1\/(?:media\/[^/]+|agents|agents\/[^/]+|status))$/;

/** @property exp epoch seconds */
type AccessClaims = { home: string; grant: string; aud: string; exp: number };

/** @param audience the resource for which the person allowed it */
export async function makeAccessToken(
  env: Env,
  { home, grant }: { home: string; grant: string },
  audience: string,
): Promise<string> {
  const exp = Math.floor(Date.now() / 1_000) + ACCESS_LIFE_S;
  const claims: AccessClaims = { home, grant, aud: audience, exp };
  return ACCESS_PREFIX + (await seal(env, "oauth access", claims));
}

/** @returns the grant that a token names, also after the token's end; undefined: this gateway did not make it */
export async function readAccessToken(env: Env, token: string): Promise<AccessClaims | undefined> {
  if (!token.startsWith(ACCESS_PREFIX)) return undefined;
  return await unseal<AccessClaims>(env, "oauth access", token.slice(ACCESS_PREFIX.length));
}

/** @returns the rights that the grant has now; undefined: it has none @throws HttpError 403 at an address that it is not for */
export async function findGrantToken(
  request: Request,
  env: Env,
  token: string,
): Promise<ApiToken | undefined> {
  const claims = await readAccessToken(env, token);
  const issuer = issuerOf(env, request.url);
  if (!claims || !issuer || claims.aud !== resourceOf(issuer) || claims.exp * 1_000 <= Date.now())
    return undefined;
  if (!isNamedHome(env, claims.home)) return undefined;
  if (!PLACES.test(`${request.method} ${new URL(request.url).pathname}`))
    throw new HttpError(
      403,
      "forbidden",
      "a connected program's token is for /mcp, the files that its results link to, and GET /v1/agents and /v1/status",
    );
  return await homeOf(env, claims.home).tokens.useGrant(claims.grant);
}
