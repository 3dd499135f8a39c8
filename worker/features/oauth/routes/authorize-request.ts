/** Reads the request with which a client sends a person here (OAuth 2.1 §4.1.1, RFC 8707). */

import type { Env } from "../../../kernel/env.ts";
import { readOauthSettings, resourceOf } from "../../../kernel/settings/oauth.ts";
import type { StoredClient } from "../contract.ts";
import { oauthAt } from "../oauth-api.ts";
import { clientOfDocument, isDocumentId } from "./client-document.ts";
import { OauthError } from "./error.ts";
import { isSameRedirect, redirectProblem } from "./redirects.ts";
import { isRegisteredId, registeredClient } from "./registered-client.ts";
import { homeOfTypedId } from "./typed-client.ts";

export type AuthorizeRequest = {
  clientId: string;
  redirectUri: string;
  challenge: string | undefined;
  resource: string;
  /** Those of the request, also unknown ones. */
  scopes: string[];
  state: string | undefined;
};

const CHALLENGE = /^[A-Za-z0-9_-]{43}$/;
const STATE_MAX = 4_096;

/** Checks everything that needs no look at the client. @throws OauthError */
export function readAuthorizeRequest(query: URLSearchParams, issuer: string): AuthorizeRequest {
  const one = (name: string): string | undefined => {
    const values = query.getAll(name);
    if (values.length > 1) throw new OauthError("invalid_request", `${name}: it is there more than once`);
    return values[0] || undefined;
  };
  const clientId = one("client_id");
  if (clientId === undefined) throw new OauthError("invalid_request", "client_id: it is missing");
  const redirectUri = one("redirect_uri");
  if (redirectUri === undefined) throw new OauthError("invalid_request", "redirect_uri: it is missing");
  if (one("response_type") !== "code")
    throw new OauthError("unsupported_response_type", "response_type: expected code");
  const challenge = one("code_challenge");
  if (challenge !== undefined && one("code_challenge_method") !== "S256")
    throw new OauthError("invalid_request", "code_challenge_method: expected S256");
  if (challenge !== undefined && !CHALLENGE.test(challenge))
    throw new OauthError(
      "invalid_request",
      "code_challenge: expected the SHA-256 as 43 characters of base64url",
    );
  const state = one("state");
  if (state !== undefined && state.length > STATE_MAX)
    throw new OauthError("invalid_request", `state: it is longer than ${STATE_MAX} characters`);
  const scopes = (one("scope") ?? "").split(" ").filter((scope) => scope !== "");
  return {
    clientId,
    redirectUri,
    challenge,
    resource: readResource(query.getAll("resource"), issuer),
    scopes,
    state,
  };
}

/** @param asked may have a slash at its end; absent: ours @throws OauthError */
export function readResource(asked: string[], issuer: string): string {
  const own = resourceOf(issuer);
  if (asked.every((one) => one === own || one === `${own}/`)) return own;
  throw new OauthError("invalid_target", `resource: expected ${own}`);
}

/** Refuses what is wrong whoever is signed in. Wakes no object and fetches nothing. @throws OauthError */
export async function checkForStranger(
  env: Env,
  { clientId, redirectUri, challenge }: AuthorizeRequest,
): Promise<void> {
  const problem = redirectProblem(redirectUri, readOauthSettings(env).redirects);
  if (problem) throw new OauthError("invalid_request", `redirect_uri: it ${problem}`);
  const client = await requireKnownId(env, clientId);
  if (client) requireRedirect(client, redirectUri);
  // Only a client with a secret may do without, and that is one that was entered by hand.
  if (challenge === undefined && homeOfTypedId(clientId) === undefined)
    throw new OauthError(
      "invalid_request",
      "code_challenge: it is missing; clients have to use PKCE with S256",
    );
}

/**
 * Refuses an id that this gateway did not give. Wakes no object and fetches nothing.
 * @returns the client, when its id says all about it @throws OauthError by which a program knows to register anew
 */
export async function requireKnownId(env: Env, id: string): Promise<StoredClient | undefined> {
  if (isRegisteredId(id)) return await registered(env, id);
  if (isDocumentId(id) || homeOfTypedId(id) !== undefined) return undefined;
  throw unknownClient();
}

/** @param home of the person who is signed in @returns the client, which may have its answer at this address @throws OauthError */
export async function clientOf(
  env: Env,
  home: string,
  { clientId, redirectUri, challenge }: AuthorizeRequest,
): Promise<StoredClient> {
  const client = isRegisteredId(clientId)
    ? await registered(env, clientId)
    : isDocumentId(clientId)
      ? await clientOfDocument(env, home, clientId)
      : await typed(env, home, clientId);
  requireRedirect(client, redirectUri);
  if (challenge === undefined && client.confidential !== true)
    throw new OauthError(
      "invalid_request",
      "code_challenge: it is missing; a client without a secret has to use PKCE",
    );
  return client;
}

async function registered(env: Env, id: string): Promise<StoredClient> {
  const client = await registeredClient(env, id);
  if (!client) throw unknownClient();
  return client;
}

async function typed(env: Env, home: string, id: string): Promise<StoredClient> {
  const client = homeOfTypedId(id) === home ? await oauthAt(env, home).client(id) : undefined;
  if (!client) throw unknownClient();
  return client;
}

function requireRedirect({ redirectUris }: StoredClient, asked: string): void {
  if (redirectUris.some((known) => isSameRedirect(known, asked))) return;
  throw new OauthError("invalid_request", "redirect_uri: the client did not register this address");
}

function unknownClient(): OauthError {
  return new OauthError(
    "invalid_client",
    "client_id: this gateway does not know it; remove the connection in the program, and add it anew",
  );
}
