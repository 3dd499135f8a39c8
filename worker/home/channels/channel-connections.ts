/**
 * Connections to chat apps that were made in the console: rows of Home. Their secrets (tokens, signing secrets) are
 * encrypted with a key derived from the secret CONNECTIONS_KEY, if that is set; else the rows are as safe as the object's
 * storage. Only `find` returns secrets, for the channel that uses them.
 */
import { fromBase64Url, toBase64Url, utf8 } from "@edgecall/core/encoding.ts";
import type { Parsed } from "@edgecall/core/protocol/parse.ts";
import type { StoredConnection } from "../../api/senders.ts";
import { type Connection, readConnection } from "../../settings/channels.ts";
import { SettingsError } from "../../settings/settings-error.ts";

/** More than a person sets up by hand belong into CHANNELS. */
const CONNECTIONS_MAX = 20;
/** A shorter CONNECTIONS_KEY can be guessed. */
const KEY_MIN_CHARS = 32;
/** AES-GCM's own. */
const NONCE_BYTES = 12;
const SECRET_FIELDS = ["token", "secret", "verify_token"] as const;

/** A connection without its secrets. */
export type Admitting = Pick<Connection, "channel" | "connection" | "allow" | "role_of">;

type Row = StoredConnection & { settings: string; secrets: string };

export class ChannelConnections {
  readonly #sql: SqlStorage;
  readonly #home: string;
  readonly #secret: string | undefined;

  /** @param home the home's id @param secret CONNECTIONS_KEY */
  constructor(storage: DurableObjectStorage, home: string, secret: string | undefined) {
    this.#sql = storage.sql;
    this.#home = home;
    this.#secret = secret;
  }

  /** Stores a connection; it replaces another of its name. @returns false: there are too many */
  async store(connection: Connection, by: string, now: number): Promise<boolean> {
    const { channel, connection: name } = connection;
    const isSecret = (field: string) => (SECRET_FIELDS as readonly string[]).includes(field);
    const fields = Object.entries(connection);
    const settings = Object.fromEntries(fields.filter(([field]) => !isSecret(field)));
    const secrets = Object.fromEntries(fields.filter(([field]) => isSecret(field)));
    const sealed = await this.#encrypt(JSON.stringify(secrets), `${channel}/${name}`);
    // No await from here on.
    const known = this.list();
    const isNew = !known.some((one) => one.channel === channel && one.connection === name);
    if (isNew && known.length >= CONNECTIONS_MAX) return false;
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
    const secrets = await this.#decrypt(row.secrets, `${channel}/${name}`);
    if (secrets === undefined) return { ok: false, error: `${channel}/${name}: ${CANNOT_OPEN}` };
    return readConnection({ ...JSON.parse(row.settings), ...JSON.parse(secrets) });
  }

  /** Who may speak over each. */
  admitting(): Admitting[] {
    return (
      this.#sql
        .exec<{ settings: string }>("SELECT settings FROM connection ORDER BY channel, connection")
        .toArray()
        // SAFETY: `store` wrote it.
        .map(({ settings }) => JSON.parse(settings) as Admitting)
    );
  }

  /** @returns false: there is none of this name */
  remove(channel: string, name: string): boolean {
    return (
      this.#sql
        .exec("DELETE FROM connection WHERE channel = ? AND connection = ? RETURNING channel", channel, name)
        .toArray().length > 0
    );
  }

  /** `plain:JSON`, or `aes:` and the nonce with the ciphertext. @param place the row that it belongs to: rows cannot be swapped */
  async #encrypt(text: string, place: string): Promise<string> {
    if (!this.#secret) return `plain:${text}`;
    const nonce = crypto.getRandomValues(new Uint8Array(NONCE_BYTES));
    const key = await this.#key(this.#secret);
    const sealed = new Uint8Array(
      await crypto.subtle.encrypt(this.#algorithm(nonce, place), key, utf8(text)),
    );
    return `aes:${toBase64Url(nonce)}.${toBase64Url(sealed)}`;
  }

  async #decrypt(stored: string, place: string): Promise<string | undefined> {
    if (stored.startsWith("plain:")) return stored.slice("plain:".length);
    const [, nonce, sealed] = /^aes:([A-Za-z0-9_-]+)\.([A-Za-z0-9_-]+)$/.exec(stored) ?? [];
    if (!this.#secret || nonce === undefined || sealed === undefined) return undefined;
    const key = await this.#key(this.#secret);
    try {
      const algorithm = this.#algorithm(fromBase64Url(nonce), place);
      return new TextDecoder().decode(await crypto.subtle.decrypt(algorithm, key, fromBase64Url(sealed)));
    } catch {
      // It was encrypted with another key.
      return undefined;
    }
  }

  #algorithm(iv: Uint8Array, place: string) {
    return { name: "AES-GCM", iv, additionalData: utf8(`${this.#home}/${place}`) };
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
