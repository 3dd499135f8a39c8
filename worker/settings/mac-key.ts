/** The key of the MACs that only this gateway checks. */
import { utf8 } from "@edgecall/core/encoding.ts";
import type { Env } from "../env.ts";
import { AuthSettingsError, apiTokenRecords } from "./tokens.ts";

/**
 * Derived from the records of all tokens, so no further secret has to be set. A bridge knows its own token and no other
 * record; new tokens make old uploads, links and sessions invalid.
 * @param purpose a MAC for one is not valid for another
 * @throws AuthSettingsError
 */
export async function macKey(env: Env, purpose: "upload" | "link" | "session"): Promise<CryptoKey> {
  if (!env.BRIDGE_TOKENS || !env.API_TOKENS)
    throw new AuthSettingsError("BRIDGE_TOKENS and API_TOKENS have to be set");
  return await importKey(`edgecall ${purpose} v1\n${env.BRIDGE_TOKENS}\n${env.API_TOKENS}`);
}

/**
 * A key that outlives a change of the tokens: clients keep what OAuth gave them for months. Derived from CONNECTIONS_KEY, which
 * stays the same; where that is not set, from the first record of API_TOKENS.
 * @param purpose a MAC for one is not valid for another
 * @throws AuthSettingsError
 */
export async function lastingMacKey(env: Env, purpose: string): Promise<CryptoKey> {
  const secret = env.CONNECTIONS_KEY || apiTokenRecords(env)[0]?.hash;
  if (!secret) throw new AuthSettingsError("API_TOKENS has to name a token");
  return await importKey(`edgecall ${purpose} v1\n${secret}`);
}

async function importKey(secret: string): Promise<CryptoKey> {
  return await crypto.subtle.importKey("raw", utf8(secret), { name: "HMAC", hash: "SHA-256" }, false, [
    "sign",
    "verify",
  ]);
}
