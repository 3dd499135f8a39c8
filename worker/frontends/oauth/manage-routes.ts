/**
 * `/v1/oauth`: a person's connected programs, and clients that are entered by hand. Everybody sees and ends their own grants;
 * with `admin`, everybody's.
 */
import { sha256Hex, toBase64Url } from "@edgecall/core/encoding.ts";
import { z } from "@edgecall/core/protocol/parse.ts";
import type { Context } from "hono";
import type { OauthGrantView } from "../../api/answers.ts";
import { homeOf } from "../../api/stubs.ts";
import { type App, newRoutes } from "../../http/app.ts";
import { requireScope } from "../../http/auth.ts";
import { HttpError } from "../../http/errors.ts";
import { pathName, readBody, UUID } from "../../http/request.ts";
import { readOauthSettings } from "../../settings/oauth.ts";
import { clientName } from "./client-name.ts";
import { redirectProblem } from "./redirects.ts";
import { newTypedId, TYPED_ID } from "./typed-client.ts";

export const oauthGrants = newRoutes();

oauthGrants.get("/v1/oauth/grants", async (c) => c.json({ grants: await grantsOf(c) }));
oauthGrants.delete("/v1/oauth/grants/:id", endGrant);
oauthGrants.get("/v1/oauth/clients", async (c) => {
  const { home } = requireScope(c, "admin");
  return c.json({ clients: await homeOf(c.env, home).oauthClients() });
});
oauthGrants.post("/v1/oauth/clients", makeClient);
oauthGrants.delete("/v1/oauth/clients/:id", removeClient);

async function grantsOf(c: Context<App>): Promise<OauthGrantView[]> {
  const { home, name, scopes } = requireScope(c, "ask");
  const all = await homeOf(c.env, home).grants();
  return scopes.includes("admin") ? all : all.filter(({ person }) => person === name);
}

/** Disconnects a program: its next request gets 401. */
async function endGrant(c: Context<App>): Promise<Response> {
  const id = pathName(c, "id", UUID, "a connected program's id, a UUID");
  const { home, name } = requireScope(c, "ask");
  const isTheirs = (await grantsOf(c)).some((grant) => grant.id === id);
  if (!isTheirs || !(await homeOf(c.env, home).endGrant(id, name)))
    throw new HttpError(404, "not_found", "no such connected program");
  return c.body(null, 204);
}

/**
 * Enters a client by hand. Body: `name`, `redirect_uris` (1 to 8), `secret` (true: for a client that authenticates by one, and
 * may do without PKCE). Only this answer contains the secret.
 */
async function makeClient(c: Context<App>): Promise<Response> {
  const { home, name: by } = requireScope(c, "admin");
  // Made here, so that it costs nothing at the Worker's start.
  const NewClient = z.strictObject({
    name: z.string().check(z.trim(), z.minLength(1), z.maxLength(60)),
    redirect_uris: z.array(z.string()).check(z.minLength(1), z.maxLength(8)),
    secret: z.boolean(),
  });
  const { name, redirect_uris: redirectUris, secret: wantsSecret } = await readBody(c, NewClient);
  const { redirects: schemes } = readOauthSettings(c.env);
  for (const [at, one] of redirectUris.entries()) {
    const problem = redirectProblem(one, schemes);
    if (problem) throw new HttpError(400, "invalid_body", `redirect_uris.${at}: it ${problem}`);
  }
  const id = newTypedId(home);
  const secret = wantsSecret ? toBase64Url(crypto.getRandomValues(new Uint8Array(32))) : undefined;
  const secretHash = secret === undefined ? null : await sha256Hex(secret);
  if (
    !(await homeOf(c.env, home).makeOauthClient({ id, name: clientName(name), redirectUris, secretHash }, by))
  )
    throw new HttpError(
      409,
      "too_many",
      "this home has too many clients that were entered by hand; remove one first",
    );
  return c.json({ client_id: id, ...(secret !== undefined && { client_secret: secret }) }, 201);
}

/** Removes a client; its grants get no new tokens. */
async function removeClient(c: Context<App>): Promise<Response> {
  const { home } = requireScope(c, "admin");
  const id = pathName(c, "id", TYPED_ID, "a client's id, as the list has it");
  if (!(await homeOf(c.env, home).removeOauthClient(id)))
    throw new HttpError(404, "not_found", "no such client");
  return c.body(null, 204);
}
