/**
 * Passkeys (WebAuthn Level 3, https://www.w3.org/TR/webauthn-3/): what a person's authenticator signs, and the check of it on WebCrypto
 * alone. Attestation is not asked for, so no certificate and no CBOR is read: the page sends the public key as SPKI
 * (`getPublicKey()`, §5.2.1), and the registration ends with one assertion, which proves that the key belongs to it.
 */
import { canonicalHash } from "../protocol/approval.ts";
import { Instant } from "../protocol/instant.ts";
import { z } from "../protocol/parse.ts";

/** COSE algorithms (RFC 9053): ES256, RS256 and EdDSA with Ed25519. */
export const ALGORITHMS = [-7, -8, -257] as const;
export type Algorithm = (typeof ALGORITHMS)[number];

/** 64 bytes of a credential's id are usual, and 1,023 the most (§4). */
const base64url = (max: number) => z.string().check(z.regex(/^[A-Za-z0-9_-]+$/), z.maxLength(max));

/** A passkey as Home stores it. */
export const Passkey = z.strictObject({
  /** The credential's id, base64url. */
  id: base64url(1_364),
  algorithm: z.union([z.literal(-7), z.literal(-8), z.literal(-257)]),
  /** SubjectPublicKeyInfo in DER, base64url. */
  publicKey: base64url(2_000),
  /** The signature counter of its last use. It stays 0 in a passkey that is synced. */
  counter: z.int().check(z.minimum(0), z.maximum(0xffff_ffff)),
  /** It may be copied to other devices of its person (§6.1.3, flag BE). */
  isSynced: z.boolean(),
});
export type Passkey = z.infer<typeof Passkey>;

/** The result of `navigator.credentials.get()`, each part base64url. */
export const Assertion = z.strictObject({
  id: base64url(1_364),
  clientDataJSON: base64url(4_000),
  authenticatorData: base64url(2_000),
  signature: base64url(2_000),
  /** The handle of the person for whom the passkey was made; null: the authenticator did not tell it. */
  userHandle: z.nullable(base64url(100)),
});
export type Assertion = z.infer<typeof Assertion>;

/**
 * One decision of one person. Its hash is the challenge that the authenticator signs, so an assertion is good for this decision
 * alone.
 */
export const Decision = z.strictObject({
  home: z.string(),
  /** The subject: a question's id, or a control's name and its item (`role:ben`). */
  about: z.string(),
  /** The hash of the exact call, or of the exact change of the control. */
  what: z.string(),
  answer: z.string(),
  /** The hash of the standing permission that is given with it; empty: none. */
  keep: z.string(),
  person: z.string(),
  /** 32 random bytes, base64url. */
  nonce: base64url(43),
  until: Instant,
});
export type Decision = z.infer<typeof Decision>;

/** @returns the challenge of a decision: SHA-256, 64 hex digits */
export async function challengeOf(decision: Decision): Promise<string> {
  return await canonicalHash({ domain: "edgecall confirm v1", ...decision });
}
