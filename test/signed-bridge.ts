/** A bridge with its own key for tests. It makes valid and invalid tokens. */
import { toBase64Url } from "@edgecall/core/encoding.ts";
import {
  type BridgeClaims,
  bridgeTokenBody,
  bridgeTokenBytes,
} from "@edgecall/core/protocol/bridge-token.ts";
import { importPrivateKey, type Key, newKeyPair } from "@edgecall/core/protocol/signing.ts";

export class SignedBridge {
  readonly publicKey: string;
  readonly #key: Key;
  #last = 0;

  private constructor(publicKey: string, key: Key) {
    this.publicKey = publicKey;
    this.#key = key;
  }

  static async make(): Promise<SignedBridge> {
    const { publicKey, privateKey } = await newKeyPair();
    return new SignedBridge(publicKey, await importPrivateKey(privateKey));
  }

  /** Makes a token, by default for the gateway of the tests in workerd. */
  async token(claims: Partial<BridgeClaims> = {}): Promise<string> {
    this.#last = Math.max(Date.now(), this.#last + 1);
    const body = bridgeTokenBody({ home: "a", for: "gateway", n: this.#last, ...claims });
    return `${body}.${await this.sign(bridgeTokenBytes(body))}`;
  }

  /** Signs any bytes. @returns base64url */
  async sign(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
    return toBase64Url(new Uint8Array(await crypto.subtle.sign("Ed25519", this.#key, bytes)));
  }
}
