/**
 * Ed25519 signatures of messages over the broker. The gateway signs `commands`; the agent signs everything else.
 *
 * The signature covers the published bytes, and is the last field of their JSON object:
 *
 *     {"command":"ping", … ,"n":1795300000000,"sig":"86 characters of base64url"}
 *
 * A reader cuts off a tail of fixed length to get the signed bytes. No canonical form is needed: two readers cannot disagree
 * about how a number or key is written, and nothing is parsed before it is verified. For a reader that knows no signatures
 * (EvoClaw) it is one more field. The signed bytes also name the agent and the topic, so a message is not valid elsewhere.
 */
import { fromBase64Url, toBase64Url, utf8 } from "../encoding.ts";
import type { TopicKind } from "./names.ts";
import { check, checkJson, type Parsed, z } from "./parse.ts";

/** Separates this use of the key from all others. The version rises when the form changes. */
const DOMAIN = "edgecall signature v1";
const ROTATION_DOMAIN = "edgecall key v1";
const AUTOMATION_DOMAIN = "edgecall automation v1";
const ED25519 = "Ed25519";

/**
 * The fourteen texts of points of small order, which include the key of all zeros. Such a key must not be accepted, because
 * anybody can forge its signatures within a few tries.
 */
const SMALL_ORDER =
  /^(A[AQ]A{39}[AI]A|7[Pfv]_{39}[3_]8|xxdqcD1N2E-6PAt2DRBnDyogU_osOczGTsf9d5KsA[3_]o|JuiVj8KyJ7BFw_SJ8u-Y8NXfrAXTxjM5sTgCiG1T_[AI]U)$/;
const KEY_FORM = /^[A-Za-z0-9_-]{42}[AEIMQUYcgkosw048]$/;
/** 32 bytes as base64url. The spare bits of the last character are 0, so each key has exactly one text. */
export const PublicKey = z
  .string()
  .check(
    z.refine(
      (text) => KEY_FORM.test(text) && !SMALL_ORDER.test(text),
      "expected an Ed25519 public key, 32 bytes as base64url",
    ),
  );
/** 64 bytes as base64url, with the same rule. */
export const Signature = z.string().check(z.regex(/^[A-Za-z0-9_-]{85}[AQgw]$/));

const TAIL = /^,"sig":"([A-Za-z0-9_-]{85}[AQgw])"\}$/;
const TAIL_LENGTH = ',"sig":""}'.length + 86;

/** Where a message is published. It does not contain the topic prefix, which Home does not know. */
export type Place = { agent: string; kind: TopicKind };

/** Fields that each side adds before it signs. */
export const Stamp = z.looseObject({
  /** Rises with every command of the gateway or message of an agent, also over restarts. */
  n: z.int().check(z.minimum(0)),
  /** The agent's run that sends the message, or that a command is for. */
  boot_id: z.string().check(z.minLength(1), z.maxLength(64)),
});
export type Stamp = Pick<z.infer<typeof Stamp>, "n" | "boot_id">;

/** @param json the text of a non-empty JSON object @returns the same with the stamp as its last fields */
export function stamped(json: string, { boot_id, n }: Stamp): string {
  return `${json.slice(0, -1)},"boot_id":${JSON.stringify(boot_id)},"n":${n}}`;
}

/** Returns the bytes to sign for a text published at a place. */
export function signedBytes({ agent, kind }: Place, body: string): Uint8Array<ArrayBuffer> {
  const from = kind === "commands" ? "gateway" : "agent";
  return utf8(`${DOMAIN}\n${from}\n${agent}/${kind}\n${body}`);
}

/** @param signature 64 bytes @returns the text to publish */
export function withSignature(body: string, signature: Uint8Array): string {
  return `${body.slice(0, -1)},"sig":"${toBase64Url(signature)}"}`;
}

/** Splits a published text into the signed text and its signature; undefined when it is not signed. */
export function splitSigned(text: string): { body: string; signature: Uint8Array<ArrayBuffer> } | undefined {
  const tail = TAIL.exec(text.slice(-TAIL_LENGTH));
  if (tail?.[1] === undefined) return undefined;
  return { body: `${text.slice(0, -TAIL_LENGTH)}}`, signature: fromBase64Url(tail[1]) };
}

/** The last fields of a text, as `stamped` writes them, and what authenticates it. */
const STAMP_TAIL =
  /,"boot_id":"([^"\\]{1,64})","n":(0|[1-9]\d{0,14})(?:,"(?:sig|mac)":"[A-Za-z0-9_-]{43,86}")?\}$/;
const STAMP_TAIL_MAX = 220;

/** Reads the stamp of a text whose signature is valid. A long text need not be parsed for it. */
export function stampOf(text: string): Parsed<Stamp> {
  const [, boot_id, n] = STAMP_TAIL.exec(text.slice(-STAMP_TAIL_MAX)) ?? [];
  if (boot_id !== undefined) return { ok: true, value: { boot_id, n: Number(n) } };
  return checkJson(Stamp, text);
}

/** Returns the bytes that the old key signs to name its successor. */
export function rotationBytes(agent: string, newKey: string): Uint8Array<ArrayBuffer> {
  return utf8(`${ROTATION_DOMAIN}\n${agent}\n${newKey}`);
}

/**
 * Returns the bytes that the gateway signs of a rule that acts.
 * @param body JSON of an `AllowedAutomation`; `withSignature` makes the text that the bridge keeps of it
 */
export function automationBytes(body: string): Uint8Array<ArrayBuffer> {
  return utf8(`${AUTOMATION_DOMAIN}\n${body}`);
}

/** Returns the form of a key that people compare: the beginning of its SHA-256, `1a2b:3c4d:…`. */
export async function fingerprint(publicKey: string): Promise<string> {
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", fromBase64Url(publicKey)));
  return fingerprintOf(digest);
}

/** @param digest SHA-256 of the key's 32 bytes */
export function fingerprintOf(digest: Uint8Array): string {
  const hex = [...digest.slice(0, FINGERPRINT_BYTES)].map((byte) => byte.toString(16).padStart(2, "0"));
  return (hex.join("").match(/.{4}/g) ?? []).join(":");
}

/** 128 bits, so that nobody can find another key with the same beginning. */
const FINGERPRINT_BYTES = 16;

// ── with WebCrypto, as Workers have it ────────────────────────────────────────────────────────────────

/** A WebCrypto key; Node's types have no global name for it. */
export type Key = Awaited<ReturnType<typeof crypto.subtle.importKey>>;
export type KeyPair = { publicKey: string; privateKey: string };

/** Makes a key pair. `privateKey` is PKCS #8; both are base64url. */
export async function newKeyPair(): Promise<KeyPair> {
  // SAFETY: for Ed25519 generateKey returns a pair.
  const pair = (await crypto.subtle.generateKey(ED25519, true, ["sign", "verify"])) as Record<
    "publicKey" | "privateKey",
    Key
  >;
  const [raw, pkcs8] = await Promise.all([
    crypto.subtle.exportKey("raw", pair.publicKey) as Promise<ArrayBuffer>,
    crypto.subtle.exportKey("pkcs8", pair.privateKey) as Promise<ArrayBuffer>,
  ]);
  return { publicKey: toBase64Url(new Uint8Array(raw)), privateKey: toBase64Url(new Uint8Array(pkcs8)) };
}

/** @returns undefined for an invalid key: not 32 bytes, or not a point of the curve */
export async function importPublicKey(publicKey: string): Promise<Key | undefined> {
  if (!check(PublicKey, publicKey).ok) return undefined;
  try {
    return await crypto.subtle.importKey("raw", fromBase64Url(publicKey), ED25519, false, ["verify"]);
  } catch {
    return undefined;
  }
}

export async function importPrivateKey(privateKey: string): Promise<Key> {
  return await crypto.subtle.importKey("pkcs8", fromBase64Url(privateKey), ED25519, false, ["sign"]);
}

/** @param body the text of a stamped JSON object @returns the text to publish */
export async function sign(key: Key, place: Place, body: string): Promise<string> {
  const signature = await crypto.subtle.sign(ED25519, key, signedBytes(place, body));
  return withSignature(body, new Uint8Array(signature));
}

/** Whether the holder of the key signed this text for this place. */
export async function isSigned(key: Key, place: Place, text: string): Promise<boolean> {
  const split = splitSigned(text);
  if (!split) return false;
  return await crypto.subtle.verify(ED25519, key, split.signature, signedBytes(place, split.body));
}

/** Whether the holder of the old key signed the new one. */
export async function isRotation(
  key: Key,
  agent: string,
  newKey: string,
  signature: string,
): Promise<boolean> {
  if (!check(Signature, signature).ok) return false;
  return await crypto.subtle.verify(ED25519, key, fromBase64Url(signature), rotationBytes(agent, newKey));
}
