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
  const secret = utf8(`edgecall ${purpose} v1\n${env.BRIDGE_TOKENS}\n${env.API_TOKENS}`);
  return await crypto.subtle.importKey("raw", secret, { name: "HMAC", hash: "SHA-256" }, false, [
    "sign",
    "verify",
  ]);
}
