/** `/oauth/` and its metadata: people connect programs to their home without giving them a token. Everybody may ask. */

import type { Context } from "hono";
import { type App, newRoutes } from "../../../kernel/http/app.ts";
import { HttpError } from "../../../kernel/http/errors.ts";
import { route, typedAnswer } from "../../../kernel/http/route.ts";
import { issuerOf } from "../../../kernel/settings/oauth.ts";
import { resourceMetadata, serverMetadata } from "./metadata.ts";
import { type OauthRoute, serveOauth } from "./serve.ts";

export const oauth = newRoutes();

const METADATA = { "cache-control": "public, max-age=300" };

oauth.get("/.well-known/oauth-protected-resource", showResource);
/** Says where programs sign in that want to use `/mcp` (RFC 9728). */
route(oauth, "GET /.well-known/oauth-protected-resource/mcp", {}, (c) =>
  typedAnswer<ReturnType<typeof resourceMetadata>, 200, "application/json">(showResource(c)),
);
oauth.get("/.well-known/oauth-authorization-server", (c) =>
  c.json(serverMetadata(requireIssuer(c)), 200, METADATA),
);
oauth.post("/oauth/register", (c) => serve(c, "register"));
oauth.get("/oauth/register/:id", (c) => serve(c, "registered"));
oauth.get("/oauth/authorize", (c) => serve(c, "authorize"));
oauth.post("/oauth/authorize", (c) => serve(c, "consent"));
oauth.post("/oauth/token", (c) => serve(c, "token"));
oauth.post("/oauth/revoke", (c) => serve(c, "revoke"));

function showResource(c: Context<App>): Response {
  return c.json(resourceMetadata(requireIssuer(c)), 200, METADATA);
}

async function serve(c: Context<App>, route: OauthRoute): Promise<Response> {
  return await serveOauth(c, route, requireIssuer(c));
}

/** @throws HttpError 404 where OAuth is off, or other people could read what passes */
function requireIssuer(c: Context<App>): string {
  const issuer = issuerOf(c.env, c.req.url);
  if (issuer === undefined)
    throw new HttpError(
      404,
      "not_found",
      "this gateway has no sign-in here: it is off, or its address is not https",
    );
  return issuer;
}
