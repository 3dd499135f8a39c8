/** Bytes as text and back, for every runtime: base64, base64url, hex and UTF-8. */

/** Characters that go into one call: a large array spread into arguments would overflow the stack. */
const PIECE_BYTES = 8_192;

const ENCODER = new TextEncoder();

export function utf8(text: string): Uint8Array<ArrayBuffer> {
  // SAFETY: an encoder's result is never shared memory, though not every runtime's types say so.
  return ENCODER.encode(text) as Uint8Array<ArrayBuffer>;
}

export function toBase64(bytes: Uint8Array): string {
  let text = "";
  for (let at = 0; at < bytes.length; at += PIECE_BYTES)
    text += String.fromCharCode(...bytes.subarray(at, at + PIECE_BYTES));
  return btoa(text);
}

/** @throws DOMException when the text is not base64 */
export function fromBase64(text: string): Uint8Array<ArrayBuffer> {
  const chars = atob(text);
  const bytes = new Uint8Array(chars.length);
  // Uint8Array.from with a function takes many times longer.
  for (let at = 0; at < chars.length; at += 1) bytes[at] = chars.charCodeAt(at);
  return bytes;
}

/** Without `=` at its end. */
export function toBase64Url(bytes: Uint8Array): string {
  return toBase64(bytes).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

/** @throws DOMException when the text is not base64url */
export function fromBase64Url(text: string): Uint8Array<ArrayBuffer> {
  return fromBase64(text.replaceAll("-", "+").replaceAll("_", "/"));
}

/** For text from outside. @returns undefined when it is not base64 */
export function tryFromBase64(text: string): Uint8Array<ArrayBuffer> | undefined {
  try {
    return fromBase64(text);
  } catch {
    return undefined;
  }
}

/** The same for base64url. */
export function tryFromBase64Url(text: string): Uint8Array<ArrayBuffer> | undefined {
  return tryFromBase64(text.replaceAll("-", "+").replaceAll("_", "/"));
}

/** In lower case. */
export function toHex(bytes: Uint8Array): string {
  let text = "";
  for (const byte of bytes) text += (byte < 16 ? "0" : "") + byte.toString(16);
  return text;
}

/** Takes both cases. @returns undefined when the text is not whole pairs of hex digits */
export function fromHex(text: string): Uint8Array<ArrayBuffer> | undefined {
  if (!/^(?:[0-9a-f]{2})*$/i.test(text)) return undefined;
  return Uint8Array.from(text.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));
}

/** @returns SHA-256 in hex, of bytes or of a text's UTF-8 */
export async function sha256Hex(data: Uint8Array | string): Promise<string> {
  // SAFETY: nothing here shares its memory, though not every runtime's types say so.
  const bytes = typeof data === "string" ? utf8(data) : (data as Uint8Array<ArrayBuffer>);
  return toHex(new Uint8Array(await crypto.subtle.digest("SHA-256", bytes)));
}
