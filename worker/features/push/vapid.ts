/** The gateway's word to a push service about who sends (VAPID, RFC 8292). */
import { toBase64Url, utf8 } from "@edgecall/core/encoding.ts";

/** @property publicKey 65 bytes, base64url, which browsers subscribe with @property privateKey a JWK as JSON */
export type VapidPair = { publicKey: string; privateKey: string };

const P256 = { name: "ECDSA", namedCurve: "P-256" };
/** A push service accepts a day at most. */
const LIFE_S = 12 * 3_600;

export async function newVapidPair(): Promise<VapidPair> {
  // SAFETY: a key pair comes for this algorithm.
  const pair = (await crypto.subtle.generateKey(P256, true, ["sign", "verify"])) as CryptoKeyPair;
  const raw = (await crypto.subtle.exportKey("raw", pair.publicKey)) as ArrayBuffer;
  const privateKey = JSON.stringify(await crypto.subtle.exportKey("jwk", pair.privateKey));
  return { publicKey: toBase64Url(new Uint8Array(raw)), privateKey };
}

/**
 * @param subject an https or mailto address of whoever runs the gateway @param now epoch ms
 * @returns the value of the header `authorization`
 */
export async function vapidHeader(
  pair: VapidPair,
  endpoint: string,
  subject: string,
  now: number,
): Promise<string> {
  const claims = { aud: new URL(endpoint).origin, exp: Math.floor(now / 1_000) + LIFE_S, sub: subject };
  const body = `${part({ typ: "JWT", alg: "ES256" })}.${part(claims)}`;
  // SAFETY: `newVapidPair` wrote it.
  const jwk = JSON.parse(pair.privateKey) as JsonWebKey;
  const key = await crypto.subtle.importKey("jwk", jwk, P256, false, ["sign"]);
  const signature = await crypto.subtle.sign({ name: "ECDSA", hash: "SHA-256" }, key, utf8(body));
  return `vapid t=${body}.${toBase64Url(new Uint8Array(signature))}, k=${pair.publicKey}`;
}

function part(value: object): string {
  return toBase64Url(utf8(JSON.stringify(value)));
}
