/** Gives tokens to clients: for the code of a consent, or for a refresh token. Ends the grants of which one was used twice. */

import { sha256Hex, toBase64Url, utf8 } from "@edgecall/core/encoding.ts";
import { auditDecision } from "../../../kernel/home/audit/decisions.ts";
import type { HomeContext } from "../../../kernel/home/context.ts";
import { tokensOf } from "../../../kernel/home/people/tokens.ts";
import { type ApiToken, apiTokenRecords, SECRET_RECORD } from "../../../kernel/settings/tokens.ts";
import {
  type ClientProof,
  type CodeRequest,
  type Consent,
  type ConsentResult,
  isTypedId,
  type OauthRefusal,
  type RefreshRequest,
  type TokenGrant,
} from "../contract.ts";
import { oauthClientsOf } from "./clients.ts";
import type { Grant } from "./grants.ts";
import { grantsOf } from "./grants.ts";

/** The role with the fewest rights first. */
const ROLES = ["guest", "member", "owner"] as const;

type Person = Pick<ApiToken, "name" | "role">;

export async function consent(home: HomeContext, given: Consent): Promise<ConsentResult> {
  const made = await grantsOf(home).make(given, Date.now());
  if ("full" in made) return made;
  const { clientName: client, host, scopes, trusted } = given;
  record(home, "connect", { name: given.person, role: given.role }, { client, host, scopes, trusted });
  return made;
}

/** Trades a code. Its second use ends the grant: somebody else has the code, too. */
export async function redeemCode(home: HomeContext, request: CodeRequest): Promise<TokenGrant> {
  const grants = grantsOf(home);
  const [hash, clientHash] = [await sha256Hex(request.code), await sha256Hex(request.clientId)];
  const now = Date.now();
  const code = grants.code(hash, now);
  const grant = code && grants.get(code.grant, now);
  if (!code || !grant || grant.clientHash !== clientHash)
    return refused("code: it is unknown, or another client's");
  if (!(await isAuthentic(home, request))) return UNAUTHENTIC;
  if (code.isUsed) return usedTwice(home, grant.id);
  if (code.isOver) return refused("code: it has expired; sign in again");
  // Without PKCE the address alone shows that the code was meant for this sign-in (RFC 6749 §4.1.3).
  const mayLeaveOut = code.challenge !== undefined && request.redirectUri === undefined;
  if (!mayLeaveOut && request.redirectUri !== code.redirectUri)
    return refused("redirect_uri: it is not the one that the code was sent to");
  // A verifier without a challenge: somebody took the challenge out of the address (RFC 9700 §4.8.2).
  if (code.challenge === undefined && request.verifier !== undefined)
    return refused("code_verifier: the code was asked for without a code_challenge");
  if (code.challenge !== undefined && (await challengeOf(request.verifier)) !== code.challenge)
    return refused("code_verifier: it does not belong to the code_challenge");
  if (!isFor(grant, request.resource)) return wrongTarget(grant);
  if (!personOf(home, grant, now)) return refused("the person's token has ended");
  if (!grants.useCode(hash, now)) return usedTwice(home, grant.id);
  return { ok: true, grant: grant.id, scopes: grant.scopes, resource: grant.resource, generation: 1 };
}

function usedTwice(home: HomeContext, grant: string): OauthRefusal {
  endGrant(home, grant, "its code was used twice");
  return refused("code: it was used before, so what it gave has ended; sign in again");
}

export async function refreshGrant(home: HomeContext, request: RefreshRequest): Promise<TokenGrant> {
  const clientHash = await sha256Hex(request.clientId);
  const grant = grantsOf(home).get(request.grant, Date.now());
  if (!grant || grant.clientHash !== clientHash)
    return refused("refresh_token: it is unknown, has ended, or is another client's; sign in again");
  if (!(await isAuthentic(home, request))) return UNAUTHENTIC;
  if (!isFor(grant, request.resource)) return wrongTarget(grant);
  const now = Date.now();
  if (!personOf(home, grant, now)) return refused("refresh_token: the person's token has ended");
  const generation = grantsOf(home).refresh(grant.id, request.generation, now);
  if (generation === undefined) {
    endGrant(home, grant.id, "an old refresh token was used again");
    return refused("refresh_token: it was replaced, so what it gave has ended; sign in again");
  }
  return { ok: true, grant: grant.id, scopes: grant.scopes, resource: grant.resource, generation };
}

/** The rights of a grant now: those of the consent that its person still has. @returns undefined: none */
export function useGrant(home: HomeContext, id: string): ApiToken | undefined {
  const now = Date.now();
  const grant = grantsOf(home).get(id, now);
  const person = grant && personOf(home, grant, now);
  if (!person) return undefined;
  grantsOf(home).used(id, now);
  const role = ROLES[Math.min(ROLES.indexOf(grant.role), ROLES.indexOf(person.role))] ?? "guest";
  const scopes = grant.scopes.filter((scope) => person.scopes.includes(scope));
  // An owner's word, which somebody who is no owner any more could not give.
  const trusted = grant.trusted && role === "owner";
  const mayGrow = person.scopes.includes("command") && !scopes.includes("command");
  return {
    hash: `grant ${id}`,
    name: person.name,
    home: home.name,
    role,
    scopes,
    grant: { id, client: grant.clientName, trusted, mayGrow },
  };
}

/** True while the program may use what its person granted it. */
export function isGranted(home: HomeContext, id: string): boolean {
  const now = Date.now();
  const grant = grantsOf(home).get(id, now);
  return grant !== undefined && personOf(home, grant, now) !== undefined;
}

/** @param by a person, or why the gateway ends it @returns false: no such grant counts */
export function endGrant(home: HomeContext, id: string, by: Person | string): boolean {
  const isReason = typeof by === "string";
  const ended = grantsOf(home).end(id, isReason ? by : by.name, Date.now());
  if (!ended) return false;
  const { clientName: client, person: name, role } = ended;
  record(home, "disconnect", isReason ? { name, role } : by, { client, ...(isReason && { reason: by }) });
  return true;
}

/** Removes a client that was entered by hand, and ends what it was given. @returns false: there is no such client */
export async function removeClient(home: HomeContext, id: string): Promise<boolean> {
  const clientHash = await sha256Hex(id);
  if (!oauthClientsOf(home).remove(id)) return false;
  for (const grant of grantsOf(home).ofClient(clientHash)) endGrant(home, grant, "its client was removed");
  return true;
}

/** Ends a grant for its client. One that has ended, or is another client's, stays as it is. @returns why it is refused */
export async function revokeFor(
  home: HomeContext,
  id: string,
  client: ClientProof,
): Promise<OauthRefusal | undefined> {
  const clientHash = await sha256Hex(client.clientId);
  if (!(await isAuthentic(home, client))) return UNAUTHENTIC;
  if (grantsOf(home).get(id, Date.now())?.clientHash === clientHash)
    endGrant(home, id, "the program signed out");
  return undefined;
}

async function isAuthentic(home: HomeContext, { clientId, clientSecret }: ClientProof): Promise<boolean> {
  return !isTypedId(clientId) || (await oauthClientsOf(home).isAuthentic(clientId, clientSecret));
}

const UNAUTHENTIC: OauthRefusal = {
  ok: false,
  error: "invalid_client",
  message: "client_secret: it is missing or wrong, or the client was removed",
};

function refused(message: string): OauthRefusal {
  return { ok: false, error: "invalid_grant", message };
}

function isFor({ resource }: Grant, asked: string | undefined): boolean {
  return asked === undefined || asked === resource;
}

function wrongTarget({ resource }: Grant): TokenGrant {
  return { ok: false, error: "invalid_target", message: `resource: expected ${resource}` };
}

async function challengeOf(verifier: string | undefined): Promise<string | undefined> {
  if (verifier === undefined || !/^[A-Za-z0-9._~-]{43,128}$/.test(verifier)) return undefined;
  return toBase64Url(new Uint8Array(await crypto.subtle.digest("SHA-256", utf8(verifier))));
}

/** The record of the person who consented, which has to count still. */
function personOf(context: HomeContext, { record }: Grant, now: number): ApiToken | undefined {
  const { env, name } = context;
  if (!record.startsWith(SECRET_RECORD)) return tokensOf(context).get(record, name, now);
  const start = record.slice(SECRET_RECORD.length);
  return apiTokenRecords(env).find(({ home, hash }) => home === name && hash.startsWith(start));
}

/** Connecting and disconnecting stand in the record of calls. */
function record(
  home: HomeContext,
  tool: "connect" | "disconnect",
  { name, role }: Person,
  parameters: Record<string, unknown>,
): void {
  auditDecision(home, tool, { principal: name, role, channel: "oauth" }, parameters);
}
