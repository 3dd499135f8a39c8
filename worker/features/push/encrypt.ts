/** Encrypts a message of Web Push for one browser: RFC 8291 with the coding `aes128gcm` of RFC 8188. */
import { fromBase64Url, utf8 } from "@edgecall/core/encoding.ts";
import type { PushKeys } from "./contract.ts";

const P256 = { name: "ECDH", namedCurve: "P-256" };
const SALT_BYTES = 16;
/** Any size above the message's, which is one record. */
const RECORD_BYTES = 4_096;
/** Ends the last record. */
const LAST_RECORD = 2;

/**
 * @param text at most 3,993 bytes: a push service takes bodies of 4,096
 * @returns the request's body
 * @throws DOMException when a key is no point of the curve
 */
export async function encryptPush(text: string, { p256dh, auth }: PushKeys): Promise<Uint8Array> {
  const theirs = fromBase64Url(p256dh);
  // SAFETY: a key pair comes for this algorithm.
  const pair = (await crypto.subtle.generateKey(P256, false, ["deriveBits"])) as CryptoKeyPair;
  const ours = new Uint8Array((await crypto.subtle.exportKey("raw", pair.publicKey)) as ArrayBuffer);
  const agreement = { name: "ECDH", public: await crypto.subtle.importKey("raw", theirs, P256, false, []) };
  const shared = new Uint8Array(await crypto.subtle.deriveBits(agreement, pair.privateKey, 256));
  const secret = await hkdf(shared, fromBase64Url(auth), joined(utf8("WebPush: info\0"), theirs, ours), 32);
  const salt = crypto.getRandomValues(new Uint8Array(SALT_BYTES));
  const content = await hkdf(secret, salt, utf8("Content-Encoding: aes128gcm\0"), 16);
  const iv = await hkdf(secret, salt, utf8("Content-Encoding: nonce\0"), 12);
  const key = await crypto.subtle.importKey("raw", content, "AES-GCM", false, ["encrypt"]);
  const plain = joined(utf8(text), Uint8Array.of(LAST_RECORD));
  const sealed = new Uint8Array(await crypto.subtle.encrypt({ name: "AES-GCM", iv }, key, plain));
  const size = new Uint8Array(4);
  new DataView(size.buffer).setUint32(0, RECORD_BYTES);
  return joined(salt, size, Uint8Array.of(ours.length), ours, sealed);
}

async function hkdf(
  secret: Uint8Array<ArrayBuffer>,
  salt: Uint8Array<ArrayBuffer>,
  info: Uint8Array<ArrayBuffer>,
  bytes: number,
): Promise<Uint8Array<ArrayBuffer>> {
  const key = await crypto.subtle.importKey("raw", secret, "HKDF", false, ["deriveBits"]);
  const derived = await crypto.subtle.deriveBits(
    { name: "HKDF", hash: "SHA-256", salt, info },
    key,
    bytes * 8,
  );
  return new Uint8Array(derived);
}

function joined(...parts: Uint8Array[]): Uint8Array<ArrayBuffer> {
  const all = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}

/** @returns whether a browser may have such keys */
export async function arePushKeys({ p256dh, auth }: PushKeys): Promise<boolean> {
  try {
    await crypto.subtle.importKey("raw", fromBase64Url(p256dh), P256, false, []);
    return fromBase64Url(auth).length === 16;
  } catch {
    return false;
  }
}
