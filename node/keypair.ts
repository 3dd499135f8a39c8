/**
 * Ed25519 with Node's own crypto. It signs at once, so messages keep their order without the queue that WebCrypto would
 * need. Public keys are 32 bytes, private keys PKCS #8, both as base64url.
 */
import {
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  sign,
  verify,
} from "node:crypto";

export class KeyPair {
  readonly publicKey: string;
  readonly #key: KeyObject;

  private constructor(key: KeyObject) {
    this.#key = key;
    this.publicKey = createPublicKey(key).export({ format: "jwk" }).x ?? "";
  }

  static make(): KeyPair {
    return new KeyPair(generateKeyPairSync("ed25519").privateKey);
  }

  /** @throws when the text is no private key of Ed25519 */
  static fromPrivateKey(pkcs8: string): KeyPair {
    const der = Buffer.from(pkcs8, "base64url");
    const key = createPrivateKey({ key: der, format: "der", type: "pkcs8" });
    if (key.asymmetricKeyType !== "ed25519") throw new Error("not an Ed25519 key");
    return new KeyPair(key);
  }

  /** PKCS #8, base64url, for the key's file. */
  get privateKey(): string {
    return this.#key.export({ format: "der", type: "pkcs8" }).toString("base64url");
  }

  sign(bytes: Uint8Array): Buffer {
    return sign(null, bytes, this.#key);
  }
}

export type Verifier = (bytes: Uint8Array, signature: Uint8Array) => boolean;

/** @returns a check of signatures by this key; undefined when it is no public key */
export function verifierOf(publicKey: string): Verifier | undefined {
  let key: KeyObject;
  try {
    key = createPublicKey({ key: { kty: "OKP", crv: "Ed25519", x: publicKey }, format: "jwk" });
  } catch {
    return undefined;
  }
  return (bytes, signature) => verify(null, bytes, key, signature);
}
