/**
 * Dynamic registration (RFC 7591) that stores nothing: the client's id contains what was registered, sealed. So strangers
 * cannot fill a table, and a registration never vanishes, though clients keep their ids for months.
 */
import type { Env } from "../../../kernel/env.ts";
import { seal, unseal } from "../../../kernel/http/sealed.ts";
import { readOauthSettings } from "../../../kernel/settings/oauth.ts";
import { clientName } from "./client-name.ts";
import { OauthError } from "./error.ts";
import { redirectProblem } from "./redirects.ts";

const PREFIX = "dcr1.";
const REDIRECTS_MAX = 8;
/** The id travels in addresses. */
const ID_MAX = 1_024;

/** @property at epoch seconds */
type Claims = { name: string; redirects: string[]; at: number };
export type RegisteredClient = { id: string; name: string; redirectUris: string[]; at: number };

/** @param body of the request, as JSON @throws OauthError */
export async function registerClient(env: Env, body: unknown): Promise<RegisteredClient> {
  if (typeof body !== "object" || body === null || Array.isArray(body))
    throw new OauthError("invalid_client_metadata", "expected a JSON object");
  const { redirect_uris: redirects, client_name } = body as Record<string, unknown>;
  if (
    !Array.isArray(redirects) ||
    redirects.length === 0 ||
    redirects.length > REDIRECTS_MAX ||
    !redirects.every((one) => typeof one === "string")
  )
    throw new OauthError(
      "invalid_redirect_uri",
      `redirect_uris: expected a list of 1 to ${REDIRECTS_MAX} addresses`,
    );
  const { redirects: schemes } = readOauthSettings(env);
  for (const [at, one] of redirects.entries()) {
    const problem = redirectProblem(one, schemes);
    if (problem) throw new OauthError("invalid_redirect_uri", `redirect_uris.${at}: it ${problem}`);
  }
  const name = clientName(client_name);
  const at = Math.floor(Date.now() / 1_000);
  const id = PREFIX + (await seal(env, "oauth client", { name, redirects, at } satisfies Claims));
  if (id.length > ID_MAX)
    throw new OauthError("invalid_client_metadata", "redirect_uris: they are too long together");
  return { id, name, redirectUris: redirects, at };
}

/** @returns undefined: this gateway did not make the id */
export async function registeredClient(env: Env, id: string): Promise<RegisteredClient | undefined> {
  if (!isRegisteredId(id) || id.length > ID_MAX) return undefined;
  const claims = await unseal<Claims>(env, "oauth client", id.slice(PREFIX.length));
  return claims && { id, name: claims.name, redirectUris: claims.redirects, at: claims.at };
}

export function isRegisteredId(id: string): boolean {
  return id.startsWith(PREFIX);
}

/** What a client is told: how it was registered, whatever it asked for. */
export function registrationView({ id, name, redirectUris, at }: RegisteredClient, issuer: string) {
  return {
    client_id: id,
    client_id_issued_at: at,
    client_name: name,
    redirect_uris: redirectUris,
    grant_types: ["authorization_code", "refresh_token"],
    response_types: ["code"],
    token_endpoint_auth_method: "none",
    registration_client_uri: `${issuer}/oauth/register/${id}`,
  };
}
