/**
 * A token that a program signs with its own key, valid for minutes and one purpose:
 *
 *     base64url of the claims as JSON "." base64url of its Ed25519 signature
 */
import { fromBase64Url, toBase64Url, utf8 } from "../encoding.ts";
import { checkJson, type z } from "./parse.ts";
import { Signature } from "./signing.ts";

/** Largest token; its parts are short. */
const MAX_CHARS = 1_024;

/** A token whose signature is not verified yet; that takes its maker's key. */
export type SignedToken<C> = { claims: C; body: string; signature: string };

/** Returns the first part of a token, which is to be signed. */
export function tokenBody(claims: object): string {
  return toBase64Url(utf8(JSON.stringify(claims)));
}

/** @param domain separates this use of the key from all others */
export function tokenBytes(domain: string, body: string): Uint8Array<ArrayBuffer> {
  return utf8(`${domain}\n${body}`);
}

/** @returns undefined when it is not a token with such claims */
export function splitToken<C>(schema: z.ZodMiniType<C>, token: string): SignedToken<C> | undefined {
  const [, body = "", signature = ""] = /^([A-Za-z0-9_-]+)\.([A-Za-z0-9_-]+)$/.exec(token) ?? [];
  if (body === "" || token.length > MAX_CHARS || !Signature.safeParse(signature).success) return undefined;
  const claims = checkJson(schema, decoded(body));
  return claims.ok ? { claims: claims.value, body, signature } : undefined;
}

function decoded(body: string): string {
  try {
    return new TextDecoder().decode(fromBase64Url(body));
  } catch {
    return "";
  }
}
