/**
 * What a gateway says of the program that it has for devices: `GET /edgecall.json`.
 *
 *     {"version":"0.2.0","sha256":"…","bytes":761511,"nonce":"…","sig":"86 characters of base64url"}
 *
 * The signature is the last field, as of what crosses the broker (signing.ts), by the key of the home that the device is
 * paired with, for the nonce that it asked with. So neither whoever carries the program or keeps a copy of it on the way
 * decides what is installed, nor does anything that was recorded: the hash stands in the gateway's own code.
 */

/** Never shared with another use of the same key; raised when the form changes. */
const DOMAIN = "edgecall program v1";

/** Made anew for each question. */
export const PROGRAM_NONCE = /^[A-Za-z0-9_-]{16,64}$/;

/** @property sha256 in hex @property bytes how many it has */
export type ProgramFacts = { version: string; sha256: string; bytes: number };

/** What is signed of a manifest. @param body its text without the signature */
export function programBytes(body: string): Uint8Array<ArrayBuffer> {
  // SAFETY: an encoder's result is never shared memory; not every runtime's types say so.
  return new TextEncoder().encode(`${DOMAIN}\n${body}`) as Uint8Array<ArrayBuffer>;
}
