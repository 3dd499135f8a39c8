/** The key of the MACs that only this gateway checks. */
import { utf8 } from "@edgecall/core/encoding.ts";
import type { Env } from "../env.ts";
import { AuthSettingsError } from "./tokens.ts";

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
 * A key that outlives a change of the tokens: clients keep what OAuth gave them for months. It is derived from CONNECTIONS_KEY. Where
 * that is not set, it is derived from the records of all tokens, as above, and new tokens end every connection.
 * @param purpose a MAC for one is not valid for another
 * @throws AuthSettingsError
 */
export async function lastingMacKey(env: Env, purpose: string): Promise<CryptoKey> {
  if (env.CONNECTIONS_KEY) return await importKey(`edgecall ${purpose} v1\n${env.CONNECTIONS_KEY}`);
  if (!env.API_TOKENS) throw new AuthSettingsError("API_TOKENS has to name a token");
  return await importKey(`edgecall ${purpose} v1\n${env.BRIDGE_TOKENS ?? ""}\n${env.API_TOKENS}`);
}

async function importKey(secret: string): Promise<CryptoKey> {
  return await crypto.subtle.importKey("raw", utf8(secret), { name: "HMAC", hash: "SHA-256" }, false, [
    "sign",
    "verify",
  ]);
}
