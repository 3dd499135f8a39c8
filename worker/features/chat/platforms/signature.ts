/** Verifies the signatures of webhooks, over the raw body. WebCrypto's `verify` compares in constant time. */
import { fromHex, utf8 } from "@edgecall/core/encoding.ts";

/** An older signed request may be a replay. Slack and Standard Webhooks recommend this limit. */
const TOLERANCE_MS = 5 * 60_000;

/** @param seconds epoch seconds from the header @param now epoch ms */
export function isRecent(seconds: string | null, now: number): boolean {
  if (seconds === null || !/^\d{1,12}$/.test(seconds)) return false;
  return Math.abs(now - Number(seconds) * 1_000) <= TOLERANCE_MS;
}

/** @returns true when `mac` is the HMAC-SHA256 of a prefix and the body */
export async function isHmac(
  key: Uint8Array | string,
  prefix: string,
  body: Uint8Array,
  mac: Uint8Array | undefined,
): Promise<boolean> {
  if (mac?.length !== 32) return false;
  return await crypto.subtle.verify("HMAC", await hmacKey(key, "verify"), mac, joined(prefix, body));
}

export async function hmac(key: Uint8Array | string, text: string): Promise<Uint8Array> {
  return new Uint8Array(await crypto.subtle.sign("HMAC", await hmacKey(key, "sign"), utf8(text)));
}

function hmacKey(key: Uint8Array | string, use: "sign" | "verify"): Promise<CryptoKey> {
  const bytes = typeof key === "string" ? utf8(key) : key;
  return crypto.subtle.importKey("raw", bytes, { name: "HMAC", hash: "SHA-256" }, false, [use]);
}

/** @returns true when `signature` is a valid Ed25519 signature of a prefix and the body @param publicKey 64 hex digits */
export async function isEd25519(
  publicKey: string,
  prefix: string,
  body: Uint8Array,
  signature: Uint8Array | undefined,
): Promise<boolean> {
  const raw = fromHex(publicKey);
  if (signature?.length !== 64 || !raw) return false;
  const key = await crypto.subtle.importKey("raw", raw, { name: "Ed25519" }, false, ["verify"]);
  return await crypto.subtle.verify("Ed25519", key, signature, joined(prefix, body));
}

/** Compares two secrets by their digests, so that the time does not reveal where they differ. Only in workerd. */
export async function isSame(a: string, b: string): Promise<boolean> {
  const [one, other] = await Promise.all([a, b].map((text) => crypto.subtle.digest("SHA-256", utf8(text))));
  return one !== undefined && other !== undefined && crypto.subtle.timingSafeEqual(one, other);
}

function joined(prefix: string, body: Uint8Array): Uint8Array {
  const head = utf8(prefix);
  const whole = new Uint8Array(head.length + body.length);
  whole.set(head);
  whole.set(body, head.length);
  return whole;
}
