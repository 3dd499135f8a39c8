/** ECDSA signatures: WebAuthn has them in DER (RFC 3279 §2.2.3), WebCrypto wants r and s side by side. */

/** Bytes of r and of s on P-256. */
const HALF = 32;
const SEQUENCE = 0x30;
const INTEGER = 0x02;

/** @returns r and s, 32 bytes each; undefined: it is not the one DER form of two positive numbers */
export function rawSignature(der: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> | undefined {
  // Both numbers fit, so each length is one byte.
  if (der[0] !== SEQUENCE || der[1] !== der.length - 2 || der.length > 2 + 2 * (2 + HALF + 1))
    return undefined;
  const r = integerAt(der, 2);
  const s = r && integerAt(der, r.end);
  if (!r || !s || s.end !== der.length) return undefined;
  const raw = new Uint8Array(2 * HALF);
  raw.set(r.bytes, HALF - r.bytes.length);
  raw.set(s.bytes, 2 * HALF - s.bytes.length);
  return raw;
}

/** @returns the number's bytes without a leading zero */
function integerAt(der: Uint8Array, at: number): { bytes: Uint8Array; end: number } | undefined {
  const length = der[at + 1];
  if (der[at] !== INTEGER || length === undefined || length === 0) return undefined;
  const end = at + 2 + length;
  const [first = 0, second = 0] = [der[at + 2], der[at + 3]];
  const hasZero = first === 0;
  // A number with its highest bit set is negative. A zero that is not needed for that is a second form of the same number.
  if (end > der.length || first >= 0x80 || (hasZero && second < 0x80)) return undefined;
  const bytes = der.subarray(at + 2 + (hasZero ? 1 : 0), end);
  return bytes.length >= 1 && bytes.length <= HALF ? { bytes, end } : undefined;
}
