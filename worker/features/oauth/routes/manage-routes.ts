/**
 * `/v1/oauth`: a person's connected programs, and clients that are entered by hand. Everybody sees and ends their own grants;
 * with `admin`, everybody's.
 */

import { sha256Hex, toBase64Url } from "@edgecall/core/encoding.ts";
import { z } from "@edgecall/core/protocol/parse.ts";
import type { OauthGrantView } from "../../../kernel/api/answers.ts";
import type { Env } from "../../../kernel/env.ts";
import { newRoutes } from "../../../kernel/http/app.ts";
import { HttpError } from "../../../kernel/http/errors.ts";
import { text } from "../../../kernel/http/fields.ts";
import { UUID } from "../../../kernel/http/request.ts";
import { json, nothing, route } from "../../../kernel/http/route.ts";
import { readOauthSettings } from "../../../kernel/settings/oauth.ts";
import type { ApiToken } from "../../../kernel/settings/tokens.ts";
import { TYPED_ID } from "../contract.ts";
import { oauthAt } from "../oauth-api.ts";
import { clientName } from "./client-name.ts";
import { redirectProblem } from "./redirects.ts";
import { newTypedId } from "./typed-client.ts";

export const oauthGrants = newRoutes();

/**
 * Lists the programs that the caller has connected; with `admin`, everybody's. `state` is `consented` (the program never came
 * for its token), `token_given` (no request since), `connected`, `ended` or `expired`.
 */
route(oauthGrants, "GET /v1/oauth/grants", { scope: "ask" }, async (c, { token }) =>
  json(c, { grants: await grantsOf(c.env, token) }),
);

async function grantsOf(env: Env, { home, name, scopes }: ApiToken): Promise<OauthGrantView[]> {
  const all = await oauthAt(env, home).grants();
  return scopes.includes("admin") ? all : all.filter(({ person }) => person === name);
}

/** Disconnects a program: its next request gets 401. */
route(
  oauthGrants,
  "DELETE /v1/oauth/grants/:id",
  { scope: "ask", path: { id: text(UUID, "a connected program's id, a UUID") } },
  async (c, { token, path: { id } }) => {
    const isTheirs = (await grantsOf(c.env, token)).some((grant) => grant.id === id);
    const { name, role } = token;
    if (!isTheirs || !(await oauthAt(c.env, token.home).endGrant(id, { name, role })))
      throw new HttpError(404, "not_found", "no such connected program");
    return nothing(c);
  },
);

/** Lists the clients that were entered by hand. */
route(oauthGrants, "GET /v1/oauth/clients", { scope: "admin" }, async (c, { token }) =>
  json(c, { clients: await oauthAt(c.env, token.home).clients() }),
);

const NewClient = z.strictObject({
  name: z.string().check(z.trim(), z.minLength(1), z.maxLength(60)),
  redirect_uris: z.array(z.string()).check(z.minLength(1), z.maxLength(8)),
  /** True for a client that authenticates by a secret, and may do without PKCE. */
  secret: z.boolean(),
});

/** Enters a client by hand. Only this answer contains the secret. */
route(
  oauthGrants,
  "POST /v1/oauth/clients",
  { scope: "admin", confirm: true, body: NewClient },
  async (c, { token, body }) => {
    const { home, name: by } = token;
    const { name, redirect_uris: redirectUris, secret: wantsSecret } = body;
    const { redirects: schemes } = readOauthSettings(c.env);
    for (const [at, one] of redirectUris.entries()) {
      const problem = redirectProblem(one, schemes);
      if (problem) throw new HttpError(400, "invalid_body", `redirect_uris.${at}: it ${problem}`);
    }
    const id = newTypedId(home);
    const secret = wantsSecret ? toBase64Url(crypto.getRandomValues(new Uint8Array(32))) : undefined;
    const secretHash = secret === undefined ? null : await sha256Hex(secret);
    if (
      !(await oauthAt(c.env, home).makeClient({ id, name: clientName(name), redirectUris, secretHash }, by))
    )
      throw new HttpError(
        409,
        "too_many",
        "this home has too many clients that were entered by hand; remove one first",
      );
    const made: { client_id: string; client_secret?: string } = { client_id: id };
    return json(c, secret === undefined ? made : { ...made, client_secret: secret }, 201);
  },
);

/** Removes a client, and ends the connections of its programs. */
route(
  oauthGrants,
  "DELETE /v1/oauth/clients/:id",
  { scope: "admin", path: { id: text(TYPED_ID, "a client's id, as the list has it") } },
  async (c, { token, path: { id } }) => {
    if (await oauthAt(c.env, token.home).removeClient(id)) return nothing(c);
    throw new HttpError(404, "not_found", "no such client");
  },
);
