/** A software authenticator: it makes passkeys of each algorithm, and assertions that are right but for what a test changes. */
import { fromHex, sha256Hex, toBase64Url, utf8 } from "../../encoding.ts";
import type { Algorithm, Assertion, Passkey } from "../passkey.ts";

const MAKES = {
  [-7]: { name: "ECDSA", namedCurve: "P-256" },
  [-8]: { name: "Ed25519" },
  [-257]: {
    name: "RSASSA-PKCS1-v1_5",
    hash: "SHA-256",
    modulusLength: 2_048,
    publicExponent: new Uint8Array([1, 0, 1]),
  },
} as const;

export type Asked = { challenge: string; origin: string; rpId: string };

/** Changes of what is signed. @property flags of the authenticator data @property clientData members that are added or replaced */
export type Deviation = {
  flags?: number;
  clientData?: Record<string, unknown>;
  counter?: number;
  userHandle?: string | null;
  rpId?: string;
};

export class Authenticator {
  readonly passkey: Passkey;
  readonly #keys: CryptoKeyPair;
  readonly #userHandle: string;
  #counter = 0;

  private constructor(passkey: Passkey, keys: CryptoKeyPair, userHandle: string) {
    this.passkey = passkey;
    this.#keys = keys;
    this.#userHandle = userHandle;
  }

  static async make(algorithm: Algorithm, userHandle: string, isSynced = false): Promise<Authenticator> {
    // SAFETY: all three algorithms have pairs of keys.
    const keys = (await crypto.subtle.generateKey(MAKES[algorithm], true, [
      "sign",
      "verify",
    ])) as CryptoKeyPair;
    const spki = new Uint8Array((await crypto.subtle.exportKey("spki", keys.publicKey)) as ArrayBuffer);
    const id = toBase64Url(crypto.getRandomValues(new Uint8Array(32)));
    const passkey: Passkey = { id, algorithm, publicKey: toBase64Url(spki), counter: 0, isSynced };
    return new Authenticator(passkey, keys, userHandle);
  }

  async assert({ challenge, origin, rpId }: Asked, change: Deviation = {}): Promise<Assertion> {
    const { algorithm, isSynced, id } = this.passkey;
    // A synced passkey counts nothing.
    if (!isSynced) this.#counter += 1;
    const clientData = utf8(
      JSON.stringify({
        type: "webauthn.get",
        challenge: toBase64Url(fromHex(challenge) ?? new Uint8Array()),
        origin,
        crossOrigin: false,
        other_keys_can_be_added_here: "do not compare clientDataJSON against a template",
        ...change.clientData,
      }),
    );
    const data = new Uint8Array(37);
    data.set(fromHex(await sha256Hex(change.rpId ?? rpId)) ?? []);
    data[32] = change.flags ?? (isSynced ? 0x1d : 0x05);
    new DataView(data.buffer).setUint32(33, change.counter ?? this.#counter);
    const hash = new Uint8Array(await crypto.subtle.digest("SHA-256", clientData));
    const signed = new Uint8Array([...data, ...hash]);
    const how = algorithm === -7 ? { name: "ECDSA", hash: "SHA-256" } : { name: MAKES[algorithm].name };
    const raw = new Uint8Array(await crypto.subtle.sign(how, this.#keys.privateKey, signed));
    return {
      id,
      clientDataJSON: toBase64Url(clientData),
      authenticatorData: toBase64Url(data),
      signature: toBase64Url(algorithm === -7 ? derSignature(raw) : raw),
      userHandle: change.userHandle === undefined ? this.#userHandle : change.userHandle,
    };
  }
}

/** r and s side by side, as DER. */
export function derSignature(raw: Uint8Array): Uint8Array {
  const integer = (half: Uint8Array): number[] => {
    const from = half.findIndex((byte) => byte !== 0);
    const bytes = [...half.subarray(from < 0 ? half.length - 1 : from)];
    if ((bytes[0] ?? 0) >= 0x80) bytes.unshift(0);
    return [0x02, bytes.length, ...bytes];
  };
  const both = [...integer(raw.subarray(0, 32)), ...integer(raw.subarray(32))];
  return new Uint8Array([0x30, both.length, ...both]);
}
