/**
 * Texts that this gateway gives away and gets back, so that it need not store them:
 *
 *     base64url of the claims as JSON "." base64url of their MAC
 *
 * Everybody can read the claims. A text that was made for one purpose is not valid for another.
 */
import { toBase64Url, tryFromBase64Url, utf8 } from "@edgecall/core/encoding.ts";
import { tokenBody } from "@edgecall/core/protocol/signed-token.ts";
import type { Env } from "../env.ts";
import { lastingMacKey } from "../settings/mac-key.ts";

export type SealPurpose =
  | "oauth access"
  | "oauth refresh"
  | "oauth code"
  | "oauth form"
  | "oauth client"
  | "mcp state";

const SEALED = /^([A-Za-z0-9_-]+)\.([A-Za-z0-9_-]{43})$/;

/** @throws AuthSettingsError */
export async function seal(env: Env, purpose: SealPurpose, claims: object): Promise<string> {
  const body = tokenBody(claims);
  const mac = await crypto.subtle.sign("HMAC", await lastingMacKey(env, purpose), utf8(body));
  return `${body}.${toBase64Url(new Uint8Array(mac))}`;
}

/** @returns what `seal` got for this purpose; undefined: this gateway did not make the text @throws AuthSettingsError */
export async function unseal<C extends object>(
  env: Env,
  purpose: SealPurpose,
  text: string,
): Promise<C | undefined> {
  const [, body = "", mac = ""] = SEALED.exec(text) ?? [];
  const [claims, sum] = [tryFromBase64Url(body), tryFromBase64Url(mac)];
  if (!claims || !sum) return undefined;
  const key = await lastingMacKey(env, purpose);
  if (!(await crypto.subtle.verify("HMAC", key, sum, utf8(body)))) return undefined;
  // SAFETY: the MAC says that `seal` wrote it, for the same purpose.
  return JSON.parse(new TextDecoder().decode(claims)) as C;
}
