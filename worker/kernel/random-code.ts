/** Without characters that look alike. There are 32, so a random byte gives each the same chance. */
const ALPHABET = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789";

/** A code that a person reads and types. */
export function randomCode(length: number): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(length)), (byte) => ALPHABET[byte % 32]).join("");
}
