/**
 * Connections to chat apps that were made in the console: rows of Home. What a platform trusts (tokens, signing
 * secrets) is encrypted with a key made of the secret CONNECTIONS_KEY, where that is set; without it the rows are as
 * safe as the object's storage. A secret leaves by `find` alone, for the channel that speaks with it.
 */
import { fromBase64Url, toBase64Url, utf8 } from "@edgecall/core/encoding.ts";
import type { Parsed } from "@edgecall/core/protocol/parse.ts";
import type { StoredConnection } from "../../api/senders.ts";
import { type Connection, readConnection } from "../../settings/channels.ts";
import { SettingsError } from "../../settings/settings-error.ts";

/** As many as a person sets up by hand; more of them belong into CHANNELS. */
const KEPT_MAX = 20;
/** Of CONNECTIONS_KEY: shorter ones can be guessed. */
const KEY_MIN_CHARS = 32;
/** AES-GCM's own. */
const NONCE_BYTES = 12;
const SECRET_FIELDS = ["token", "secret", "verify_token"] as const;

type Row = StoredConnection & { settings: string; secrets: string };

export class KeptConnections {
  readonly #sql: SqlStorage;
  readonly #home: () => string;
  readonly #secret: string | undefined;

  /** @param home the id of the home that keeps them @param secret CONNECTIONS_KEY */
  constructor(storage: DurableObjectStorage, home: () => string, secret: string | undefined) {
    this.#sql = storage.sql;
    this.#home = home;
    this.#secret = secret;
  }

  /** Keeps one; another of its name makes room for it. @returns false: there are too many */
  async keep(connection: Connection, by: string, now: number): Promise<boolean> {
    const { channel, connection: name } = connection;
    const isSecret = (field: string) => (SECRET_FIELDS as readonly string[]).includes(field);
    const fields = Object.entries(connection);
    const settings = Object.fromEntries(fields.filter(([field]) => !isSecret(field)));
    const secrets = Object.fromEntries(fields.filter(([field]) => isSecret(field)));
    const sealed = await this.#seal(JSON.stringify(secrets), `${channel}/${name}`);
    // No await from here on.
    const known = this.list();
    const isNew = !known.some((one) => one.channel === channel && one.connection === name);
    if (isNew && known.length >= KEPT_MAX) return false;
    this.#sql.exec(
      `INSERT OR REPLACE INTO connection (channel, connection, settings, secrets, made_by, made_at)
       VALUES (?, ?, ?, ?, ?, ?)`,
      channel,
      name,
      JSON.stringify(settings),
      sealed,
      by,
      now,
    );
    return true;
  }

  list(): StoredConnection[] {
    return this.#sql
      .exec<StoredConnection>(
        "SELECT channel, connection, made_by, made_at FROM connection ORDER BY channel, connection",
      )
      .toArray();
  }

  /** With its secrets. @returns undefined: there is none of this name */
  async find(channel: string, name: string): Promise<Parsed<Connection> | undefined> {
    const row = this.#sql
      .exec<Row>("SELECT * FROM connection WHERE channel = ? AND connection = ?", channel, name)
      .toArray()[0];
    if (!row) return undefined;
    const secrets = await this.#open(row.secrets, `${channel}/${name}`);
    if (secrets === undefined) return { ok: false, error: `${channel}/${name}: ${CANNOT_OPEN}` };
    return readConnection({ ...JSON.parse(row.settings), ...JSON.parse(secrets) });
  }

  /** @returns whether there was one */
  remove(channel: string, name: string): boolean {
    return (
      this.#sql
        .exec("DELETE FROM connection WHERE channel = ? AND connection = ? RETURNING channel", channel, name)
        .toArray().length > 0
    );
  }

  /** `plain:JSON`, or `aes:` and the nonce with the ciphertext. @param place what it belongs to: nobody can swap rows */
  async #seal(text: string, place: string): Promise<string> {
    if (!this.#secret) return `plain:${text}`;
    const nonce = crypto.getRandomValues(new Uint8Array(NONCE_BYTES));
    const key = await this.#key(this.#secret);
    const sealed = new Uint8Array(await crypto.subtle.encrypt(this.#way(nonce, place), key, utf8(text)));
    return `aes:${toBase64Url(nonce)}.${toBase64Url(sealed)}`;
  }

  async #open(kept: string, place: string): Promise<string | undefined> {
    if (kept.startsWith("plain:")) return kept.slice("plain:".length);
    const [, nonce, sealed] = /^aes:([A-Za-z0-9_-]+)\.([A-Za-z0-9_-]+)$/.exec(kept) ?? [];
    if (!this.#secret || nonce === undefined || sealed === undefined) return undefined;
    const key = await this.#key(this.#secret);
    try {
      const way = this.#way(fromBase64Url(nonce), place);
      return new TextDecoder().decode(await crypto.subtle.decrypt(way, key, fromBase64Url(sealed)));
    } catch {
      // Another key than the one that sealed it.
      return undefined;
    }
  }

  #way(iv: Uint8Array, place: string) {
    return { name: "AES-GCM", iv, additionalData: utf8(`${this.#home()}/${place}`) };
  }

  /** @throws SettingsError */
  async #key(secret: string): Promise<CryptoKey> {
    if (secret.length < KEY_MIN_CHARS)
      throw new SettingsError(`CONNECTIONS_KEY: expected at least ${KEY_MIN_CHARS} characters`);
    const material = await crypto.subtle.importKey("raw", utf8(secret), "HKDF", false, ["deriveKey"]);
    const hkdf = {
      name: "HKDF",
      hash: "SHA-256",
      salt: new Uint8Array(),
      info: utf8("edgecall connections v1"),
    };
    return await crypto.subtle.deriveKey(hkdf, material, { name: "AES-GCM", length: 256 }, false, [
      "encrypt",
      "decrypt",
    ]);
  }
}

const CANNOT_OPEN =
  "was kept with another CONNECTIONS_KEY than the one that is set now; connect it anew in the console";
