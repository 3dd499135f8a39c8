/** `/oauth/token` and `/oauth/revoke`: programs trade codes and refresh tokens, and give them back. */

import type { Context } from "hono";
import type { Env } from "../../../kernel/env.ts";
import { ACCESS_LIFE_S, makeAccessToken, readAccessToken } from "../../../kernel/http/access-tokens.ts";
import type { App } from "../../../kernel/http/app.ts";
import { countAddress } from "../../../kernel/http/rate-limits.ts";
import { readBytes } from "../../../kernel/http/request.ts";
import { seal, unseal } from "../../../kernel/http/sealed.ts";
import { isNamedHome } from "../../../kernel/settings/tokens.ts";
import type { ClientProof, TokenGrant } from "../contract.ts";
import { oauthAt } from "../oauth-api.ts";
import { readResource, requireKnownId } from "./authorize-request.ts";
import { NO_STORE, OauthError } from "./error.ts";

const BODY_MAX_BYTES = 16 * 1024;
const REFRESH_PREFIX = "ort1.";

type RefreshClaims = { home: string; grant: string; generation: number };

/** @throws OauthError */
export async function giveToken(c: Context<App>, issuer: string): Promise<Response> {
  await countAddress(c);
  const fields = await readForm(c);
  const request = {
    ...(await readClient(c.env, fields)),
    resource: readResource(fields.getAll("resource"), issuer),
  };
  switch (fields.get("grant_type")) {
    case "authorization_code": {
      const sealed = await unseal<{ home: string; code: string }>(
        c.env,
        "oauth code",
        fields.get("code") ?? "",
      );
      if (!sealed || !isNamedHome(c.env, sealed.home))
        throw new OauthError(
          "invalid_grant",
          "code: this gateway did not make it, or has its home no longer",
        );
      const { home, code } = sealed;
      const redirectUri = fields.get("redirect_uri") ?? undefined;
      const verifier = fields.get("code_verifier") ?? undefined;
      const given = await oauthAt(c.env, home).redeemCode({ ...request, code, redirectUri, verifier });
      return await answer(c.env, home, given);
    }
    case "refresh_token": {
      const claims = await readRefreshToken(c.env, fields.get("refresh_token") ?? "");
      if (!claims || !isNamedHome(c.env, claims.home))
        throw new OauthError(
          "invalid_grant",
          "refresh_token: this gateway did not make it, or has its home no longer",
        );
      const { home, grant, generation } = claims;
      const given = await oauthAt(c.env, home).refreshGrant({ ...request, grant, generation });
      if (!given) throw new OauthError("invalid_grant", "refresh_token: it has ended");
      return await answer(c.env, home, given);
    }
    default:
      throw new OauthError(
        "unsupported_grant_type",
        "grant_type: expected authorization_code or refresh_token",
      );
  }
}

/** RFC 7009: a client shows who it is as for a token; then the answer is the same whether or not there was anything to revoke. @throws OauthError */
export async function revokeToken(c: Context<App>): Promise<Response> {
  await countAddress(c);
  const fields = await readForm(c);
  const client = await readClient(c.env, fields);
  const token = fields.get("token") ?? "";
  const claims = (await readRefreshToken(c.env, token)) ?? (await readAccessToken(c.env, token));
  if (claims && isNamedHome(c.env, claims.home)) {
    const refused = await oauthAt(c.env, claims.home).revokeFor(claims.grant, client);
    if (refused) throw new OauthError(refused.error, refused.message);
  }
  return new Response(null, { status: 200, headers: NO_STORE });
}

async function answer(env: Env, home: string, given: TokenGrant): Promise<Response> {
  if (!given.ok) throw new OauthError(given.error, given.message);
  const { grant, generation, resource, scopes } = given;
  const refresh: RefreshClaims = { home, grant, generation };
  const body = {
    access_token: await makeAccessToken(env, { home, grant }, resource),
    token_type: "Bearer",
    expires_in: ACCESS_LIFE_S,
    refresh_token: REFRESH_PREFIX + (await seal(env, "oauth refresh", refresh)),
    scope: scopes.join(" "),
  };
  return Response.json(body, { headers: NO_STORE });
}

async function readRefreshToken(env: Env, token: string): Promise<RefreshClaims | undefined> {
  if (!token.startsWith(REFRESH_PREFIX)) return undefined;
  return await unseal<RefreshClaims>(env, "oauth refresh", token.slice(REFRESH_PREFIX.length));
}

/** @throws OauthError when this gateway did not give the id; the home compares the secret */
async function readClient(env: Env, fields: URLSearchParams): Promise<ClientProof> {
  const clientId = fields.get("client_id");
  if (!clientId) throw new OauthError("invalid_request", "client_id: it is missing");
  await requireKnownId(env, clientId);
  return { clientId, clientSecret: fields.get("client_secret") ?? undefined };
}

async function readForm(c: Context<App>): Promise<URLSearchParams> {
  const type = c.req.header("content-type") ?? "";
  if (!/^application\/x-www-form-urlencoded\s*(;|$)/i.test(type))
    throw new OauthError("invalid_request", "expected content-type: application/x-www-form-urlencoded");
  return new URLSearchParams(new TextDecoder().decode(await readBytes(c, BODY_MAX_BYTES)));
}
