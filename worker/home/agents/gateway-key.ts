/** The home's own key pair, which its devices obey: made when it is first needed, kept in Home's storage. Only an export takes it out. */
import { programBytes } from "@edgecall/core/protocol/program.ts";
import {
  importPrivateKey,
  type Key,
  newKeyPair,
  sign,
  withSignature,
} from "@edgecall/core/protocol/signing.ts";

type Pair = { publicKey: string; key: Key };
type PairRow = { public_key: string; private_key: string };

export class GatewayKey {
  readonly #sql: SqlStorage;
  #pair: Promise<Pair> | undefined;

  constructor(storage: DurableObjectStorage) {
    this.#sql = storage.sql;
  }

  /** 32 bytes, base64url. */
  async publicKey(): Promise<string> {
    return (await this.#read()).publicKey;
  }

  /** @param body the text of a stamped command @returns it with the signature */
  async seal(agent: string, body: string): Promise<string> {
    const { key } = await this.#read();
    return await sign(key, { agent, kind: "commands" }, body);
  }

  /**
   * @param named the key that whoever asks obeys @param body of a manifest (core/protocol/program.ts)
   * @returns it with the signature; undefined: the key is not this home's. None is made for who asks
   */
  async sealManifest(named: string, body: string): Promise<string | undefined> {
    if (this.#row()?.public_key !== named) return undefined;
    const { key } = await this.#read();
    return withSignature(body, new Uint8Array(await crypto.subtle.sign("Ed25519", key, programBytes(body))));
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
    return { publicKey: row.public_key, key: await importPrivateKey(row.private_key) };
  }

  #row(): PairRow | undefined {
    return this.#sql.exec<PairRow>("SELECT public_key, private_key FROM gateway_key").toArray()[0];
  }

  async #make(): Promise<PairRow> {
    const { publicKey, privateKey } = await newKeyPair();
    this.#sql.exec(
      "INSERT INTO gateway_key (one, public_key, private_key, made_at) VALUES (1, ?, ?, ?)",
      publicKey,
      privateKey,
      Date.now(),
    );
    return { public_key: publicKey, private_key: privateKey };
  }
}
