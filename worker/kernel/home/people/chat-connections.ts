/**
 * Connections to chat apps that were made in the console: rows of Home. Their secrets (tokens, signing secrets) are stored as
 * stored-secrets.ts says. Only `find` returns secrets, for the channel that uses them.
 */

import type { Parsed } from "@edgecall/core/protocol/parse.ts";
import type { StoredConnection } from "../../api/senders.ts";
import { type Connection, readConnection } from "../../settings/chat.ts";
import { SqlStore } from "../../sql-store.ts";
import { slot } from "../slot.ts";
import { OTHER_KEY, StoredSecrets } from "../stored-secrets.ts";

/** More than a person sets up by hand belong into CHANNELS. */
const CONNECTIONS_MAX = 20;
const SECRET_FIELDS = ["token", "secret", "verify_token"] as const;

/** A connection without its secrets. */
export type Admitting = Pick<Connection, "channel" | "connection" | "allow" | "role_of" | "approve">;

type Row = StoredConnection & { settings: string; secrets: string };

export class ChatConnectionStore extends SqlStore {
  readonly #secrets: StoredSecrets;

  /** @param home the home's id @param secret CONNECTIONS_KEY */
  constructor(storage: DurableObjectStorage, home: string, secret: string | undefined) {
    super(storage);
    this.#secrets = new StoredSecrets(home, secret);
  }

  /** Stores a connection; it replaces another of its name. @returns false: there are too many */
  async store(connection: Connection, by: string, now: number): Promise<boolean> {
    const { channel, connection: name } = connection;
    const isSecret = (field: string) => (SECRET_FIELDS as readonly string[]).includes(field);
    const fields = Object.entries(connection);
    const settings = Object.fromEntries(fields.filter(([field]) => !isSecret(field)));
    const secrets = Object.fromEntries(fields.filter(([field]) => isSecret(field)));
    const sealed = await this.#secrets.seal(JSON.stringify(secrets), `${channel}/${name}`);
    // No await from here on.
    const known = this.list();
    const isNew = !known.some((one) => one.channel === channel && one.connection === name);
    if (isNew && known.length >= CONNECTIONS_MAX) return false;
    this.sql.insert("OR REPLACE INTO connection", {
      channel,
      connection: name,
      settings: JSON.stringify(settings),
      secrets: sealed,
      made_by: by,
      made_at: now,
    });
    return true;
  }

  list(): StoredConnection[] {
    return this.sql.all<StoredConnection>(
      "SELECT channel, connection, made_by, made_at FROM connection ORDER BY channel, connection",
    );
  }

  /** With its secrets. @returns undefined: there is none of this name */
  async find(channel: string, name: string): Promise<Parsed<Connection> | undefined> {
    const row = this.sql.first<Row>`SELECT * FROM connection WHERE channel = ${channel}
      AND connection = ${name}`;
    if (!row) return undefined;
    const secrets = await this.#secrets.open(row.secrets, `${channel}/${name}`);
    if (secrets === undefined) return { ok: false, error: `${channel}/${name}: ${CANNOT_OPEN}` };
    return readConnection({ ...JSON.parse(row.settings), ...JSON.parse(secrets) });
  }

  /** Who may speak over each. */
  admitting(): Admitting[] {
    return (
      this.sql
        .all<{ settings: string }>("SELECT settings FROM connection ORDER BY channel, connection")
        // SAFETY: `store` wrote it.
        .map(({ settings }) => JSON.parse(settings) as Admitting)
    );
  }

  /** @returns false: there is none of this name */
  remove(channel: string, name: string): boolean {
    return (
      this.sql.all`DELETE FROM connection WHERE channel = ${channel} AND connection = ${name}
        RETURNING channel`.length > 0
    );
  }
}

const CANNOT_OPEN = `${OTHER_KEY}; connect it anew in the console`;

export const chatConnectionsOf = slot(
  ({ ctx, env, name }) => new ChatConnectionStore(ctx.storage, name, env.CONNECTIONS_KEY),
);
