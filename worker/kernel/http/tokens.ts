/**
 * Finds the record of a token. This file decides all of it, so that it can be reviewed alone; settings/tokens.ts reads the
 * records of the secrets.
 *
 * The gateway stores only a token's SHA-256, never the token. A record is looked up by that hash. Its timing tells a caller nothing
 * of use: nobody can choose a token by its hash. The record names the home, so the home is never taken from a path, a query or a
 * body. Other records are in a home itself; the token that a home made names it. access-tokens.ts has those of OAuth.
 */
import { sha256Hex, toBase64Url } from "@edgecall/core/encoding.ts";
import { homeOf } from "../api/stubs.ts";
import type { Env } from "../env.ts";
import {
  type ApiToken,
  apiTokensByHash,
  type BridgeToken,
  bridgeTokensByHash,
  isNamedHome,
} from "../settings/tokens.ts";
import { ACCESS_PREFIX, findGrantToken } from "./access-tokens.ts";

/** A token that a home made. It names the home, so only that home is asked. */
const HOME_TOKEN = /^ec_([a-z0-9][a-z0-9-]{0,62})_[A-Za-z0-9_-]{43}$/;
/** Hashes of tokens that were valid when this isolate last asked: a request with one of them is no guess. */
const knownHashes = new Set<string>();
const KNOWN_MAX = 1_000;
/** Hashes of records that were replaced. This Worker is started anew without them in a moment. */
const replacedHashes = new Set<string>();

/** Refuses the token of this record from now on. */
export function refuseReplaced({ hash }: ApiToken): void {
  replacedHashes.add(hash);
}

export function newHomeToken(home: string): string {
  const random = toBase64Url(crypto.getRandomValues(new Uint8Array(32)));
  return `ec_${home}_${random}`;
}

/**
 * The record of the request's bearer token, or undefined.
 * @param beforeWaking is called before a home is asked for a token that this isolate does not know: the token may be a guess
 * @throws AuthSettingsError
 */
export async function findApiToken(
  request: Request,
  env: Env,
  beforeWaking: () => Promise<void>,
): Promise<ApiToken | undefined> {
  const records = apiTokensByHash(env);
  const token = bearerOf(request);
  if (token === undefined) return undefined;
  if (token.startsWith(ACCESS_PREFIX)) return await findGrantToken(request, env, token);
  const hash = await sha256Hex(token);
  const found = replacedHashes.has(hash) ? undefined : records.get(hash);
  if (found) return found;
  const home = HOME_TOKEN.exec(token)?.[1];
  if (home === undefined || !isNamedHome(env, home)) return undefined;
  if (!knownHashes.has(hash)) await beforeWaking();
  // The home is asked each time, so that a revoked token ends at once.
  const made = await homeOf(env, home).tokens.useToken({ hash });
  if (!made) knownHashes.delete(hash);
  else {
    if (knownHashes.size >= KNOWN_MAX) knownHashes.clear();
    knownHashes.add(hash);
  }
  return made;
}

/** @returns false when a token that opened a stream has ended. A token of the secret ends with a deploy, as every stream does. */
export async function isStillValid(env: Env, { home, made, grant }: ApiToken): Promise<boolean> {
  if (grant) return (await homeOf(env, home).tokens.useGrant(grant.id)) !== undefined;
  return !made || (await homeOf(env, home).tokens.useToken({ id: made.id })) !== undefined;
}

/** The record of a bridge's bearer token, or undefined. @throws AuthSettingsError */
export async function findBridgeToken(request: Request, env: Env): Promise<BridgeToken | undefined> {
  const records = bridgeTokensByHash(env);
  const token = bearerOf(request);
  return token === undefined ? undefined : records.get(await sha256Hex(token));
}

/** RFC 6750 §2.1; the token in the URL (§2.3) is not accepted, since URLs end up in logs. */
function bearerOf(request: Request): string | undefined {
  return /^Bearer ([A-Za-z0-9._~+/=-]{16,1024})$/i.exec(request.headers.get("authorization") ?? "")?.[1];
}
