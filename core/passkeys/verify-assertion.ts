/** The check of an assertion (WebAuthn Level 3, §7.2), in its order where the order matters. */
import { fromHex, sha256Hex, toBase64Url, toHex, tryFromBase64Url } from "../encoding.ts";
import { isObject } from "../protocol/is-object.ts";
import { rawSignature } from "./ecdsa-signature.ts";
import type { Algorithm, Assertion, Passkey } from "./passkey.ts";

/**
 * The values that an assertion has to carry.
 * @property challenge 64 hex digits @property origin of the console, as the browser sends it @property rpId its host name
 * @property userHandle of the person who is signed in, base64url
 */
export type Expected = { challenge: string; origin: string; rpId: string; userHandle: string };

/** @property counter to store with the passkey @property isSynced as the authenticator says now */
export type Verified = { ok: true; counter: number; isSynced: boolean };

/** Why an assertion counts for nothing. `counter`: perhaps the key was copied, and owners should know. */
export type Refused = {
  ok: false;
  why:
    | "credential"
    | "person"
    | "client data"
    | "type"
    | "challenge"
    | "origin"
    | "frame"
    | "authenticator data"
    | "host"
    | "not present"
    | "not verified"
    | "backup"
    | "signature"
    | "counter";
};

/** Flags of authenticator data (§6.1): user present, user verified, backup eligible, backed up. Others mean extensions or a key. */
const UP = 0x01;
const UV = 0x04;
const BE = 0x08;
const BS = 0x10;
/** rpIdHash, flags and counter, without extensions: none is asked for. */
const DATA_BYTES = 37;

const KEYS = {
  [-7]: { import: { name: "ECDSA", namedCurve: "P-256" }, verify: { name: "ECDSA", hash: "SHA-256" } },
  [-8]: { import: { name: "Ed25519" }, verify: { name: "Ed25519" } },
  [-257]: {
    import: { name: "RSASSA-PKCS1-v1_5", hash: "SHA-256" },
    verify: { name: "RSASSA-PKCS1-v1_5" },
  },
} as const satisfies Record<Algorithm, unknown>;

/** Checks one assertion of one passkey. It stores nothing: the caller uses the challenge up. */
export async function verifyAssertion(
  passkey: Passkey,
  assertion: Assertion,
  expected: Expected,
): Promise<Verified | Refused> {
  if (assertion.id !== passkey.id) return refused("credential");
  if (assertion.userHandle !== null && assertion.userHandle !== expected.userHandle) return refused("person");
  const clientData = tryFromBase64Url(assertion.clientDataJSON);
  const problem = clientData ? faultOfClient(clientData, expected) : "client data";
  if (!clientData || problem) return refused(problem ?? "client data");
  const data = tryFromBase64Url(assertion.authenticatorData);
  if (data?.length !== DATA_BYTES) return refused("authenticator data");
  if (toHex(data.subarray(0, 32)) !== (await sha256Hex(expected.rpId))) return refused("host");
  const flags = data[32] ?? 0;
  if ((flags & ~(UP | UV | BE | BS)) !== 0) return refused("authenticator data");
  if ((flags & UP) === 0) return refused("not present");
  if ((flags & UV) === 0) return refused("not verified");
  const isSynced = (flags & BE) !== 0;
  if (isSynced !== passkey.isSynced || ((flags & BS) !== 0 && !isSynced)) return refused("backup");
  if (!(await isSigned(passkey, assertion, data, clientData))) return refused("signature");
  const counter = new DataView(data.buffer, data.byteOffset).getUint32(33);
  if ((counter !== 0 || passkey.counter !== 0) && counter <= passkey.counter) return refused("counter");
  return { ok: true, counter, isSynced };
}

/** A browser may add members on purpose (§5.8.1), so only those that mean something are looked at. */
function faultOfClient(bytes: Uint8Array, { challenge, origin }: Expected): Refused["why"] | undefined {
  let data: unknown;
  try {
    data = JSON.parse(new TextDecoder("utf-8", { fatal: true, ignoreBOM: false }).decode(bytes));
  } catch {
    return "client data";
  }
  if (!isObject(data)) return "client data";
  if (data.type !== "webauthn.get") return "type";
  const wanted = fromHex(challenge);
  if (!wanted || data.challenge !== toBase64Url(wanted)) return "challenge";
  if (data.origin !== origin) return "origin";
  const isFramed = (data.crossOrigin ?? false) !== false || (data.topOrigin ?? undefined) !== undefined;
  return isFramed ? "frame" : undefined;
}

async function isSigned(
  { algorithm, publicKey }: Passkey,
  { signature }: Assertion,
  data: Uint8Array,
  clientData: Uint8Array<ArrayBuffer>,
): Promise<boolean> {
  const spki = tryFromBase64Url(publicKey);
  const sent = tryFromBase64Url(signature);
  const bytes = sent && algorithm === -7 ? rawSignature(sent) : sent;
  if (!spki || !bytes) return false;
  const clientHash = new Uint8Array(await crypto.subtle.digest("SHA-256", clientData));
  const signed = new Uint8Array(data.length + clientHash.length);
  signed.set(data);
  signed.set(clientHash, data.length);
  try {
    // The algorithm is the stored one. One that an answer names could be a weaker one.
    const key = await crypto.subtle.importKey("spki", spki, KEYS[algorithm].import, false, ["verify"]);
    return await crypto.subtle.verify(KEYS[algorithm].verify, key, bytes, signed);
  } catch {
    return false;
  }
}

function refused(why: Refused["why"]): Refused {
  return { ok: false, why };
}
