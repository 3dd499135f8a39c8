/** A short hash of a text that an agent published, by which a bridge and Home find out whether both have the same text. */
import { toBase64Url, utf8 } from "../encoding.ts";

/** Of SHA-256. Nobody gains anything by two texts of the same hash, since only the agent itself writes both. */
const BYTES = 12;
export const TEXT_HASH_CHARS = 16;

/** @returns 16 characters, base64url: the beginning of the text's SHA-256 */
export async function textHash(text: string): Promise<string> {
  const hash = await crypto.subtle.digest("SHA-256", utf8(text));
  return toBase64Url(new Uint8Array(hash, 0, BYTES));
}
