/**
 * The manifest of the program that a gateway has for devices: `GET /edgecall.json`.
 *
 *     {"version":"0.2.0","sha256":"…","bytes":761511,"nonce":"…","sig":"86 characters of base64url"}
 *
 * The signature is the last field, as in messages over the broker (signing.ts). The home's key signs the manifest together
 * with the nonce of the device's request, and the hash is part of the gateway's own code. So neither a proxy or cache on
 * the way nor a recorded manifest decides what is installed.
 */

/** Separates this use of the key from all others. The version rises when the form changes. */
const DOMAIN = "edgecall program v1";

/** A nonce, made new for each request. */
export const PROGRAM_NONCE = /^[A-Za-z0-9_-]{16,64}$/;

/** @property sha256 in hex @property bytes the size */
export type ProgramFacts = { version: string; sha256: string; bytes: number };

/** Returns the bytes of a manifest that are signed. @param body its text without the signature */
export function programBytes(body: string): Uint8Array<ArrayBuffer> {
  // SAFETY: an encoder's result is never shared memory, though not every runtime's types say so.
  return new TextEncoder().encode(`${DOMAIN}\n${body}`) as Uint8Array<ArrayBuffer>;
}
