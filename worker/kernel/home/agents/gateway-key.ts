/** The home's own key pair, whose commands its devices obey. It is made when it is first needed, and leaves Home's storage only in an export. */

import { toBase64Url, utf8 } from "@edgecall/core/encoding.ts";
import { programBytes } from "@edgecall/core/protocol/program.ts";
import {
  automationBytes,
  importPrivateKey,
  type Key,
  newKeyPair,
  sign,
  withSignature,
} from "@edgecall/core/protocol/signing.ts";
import { SqlStore } from "../../sql-store.ts";
import { slot } from "../slot.ts";

type Pair = { publicKey: string; key: Key; routeKey: CryptoKey };
type PairRow = { public_key: string; private_key: string };

export class GatewayKey extends SqlStore {
  #pair: Promise<Pair> | undefined;

  /** 32 bytes, base64url. */
  async publicKey(): Promise<string> {
    return (await this.#read()).publicKey;
  }

  /** @param body the text of a stamped command @returns the same with the signature */
  async sign(agent: string, body: string): Promise<string> {
    const { key } = await this.#read();
    return await sign(key, { agent, kind: "commands" }, body);
  }

  /**
   * @param named the public key that the asking device obeys @param body of a manifest (core/protocol/program.ts)
   * @returns the same with the signature; undefined: the key is not this home's, or this home has no key yet
   */
  async signManifest(named: string, body: string): Promise<string | undefined> {
    if (this.#row()?.public_key !== named) return undefined;
    const { key } = await this.#read();
    return withSignature(body, new Uint8Array(await crypto.subtle.sign("Ed25519", key, programBytes(body))));
  }

  /** @param body JSON of an `AllowedAutomation` @returns the same with the signature */
  async signAutomation(body: string): Promise<string> {
    const { key } = await this.#read();
    return withSignature(
      body,
      new Uint8Array(await crypto.subtle.sign("Ed25519", key, automationBytes(body))),
    );
  }

  /** @param bytes with the domain of their use (lending-token.ts) @returns base64url */
  async signBytes(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
    const { key } = await this.#read();
    return toBase64Url(new Uint8Array(await crypto.subtle.sign("Ed25519", key, bytes)));
  }

  /** The key of the MACs of routes (calls/route.ts), which only this home checks. */
  async routeKey(): Promise<CryptoKey> {
    return (await this.#read()).routeKey;
  }

  #read(): Promise<Pair> {
    this.#pair ??= this.#open().catch((error: unknown) => {
      this.#pair = undefined;
      throw error;
    });
    return this.#pair;
  }

  async #open(): Promise<Pair> {
    const row = this.#row() ?? (await this.#make());
    const secret = utf8(`edgecall route v1\n${row.private_key}`);
    const hmac = { name: "HMAC", hash: "SHA-256" };
    const routeKey = await crypto.subtle.importKey("raw", secret, hmac, false, ["sign", "verify"]);
    return { publicKey: row.public_key, key: await importPrivateKey(row.private_key), routeKey };
  }

  #row(): PairRow | undefined {
    return this.sql.first<PairRow>("SELECT public_key, private_key FROM gateway_key");
  }

  async #make(): Promise<PairRow> {
    const { publicKey, privateKey } = await newKeyPair();
    this.sql.insert("INTO gateway_key", {
      one: 1,
      public_key: publicKey,
      private_key: privateKey,
      made_at: Date.now(),
    });
    return { public_key: publicKey, private_key: privateKey };
  }
}

export const gatewayKeyOf = slot(({ ctx }) => new GatewayKey(ctx.storage));
