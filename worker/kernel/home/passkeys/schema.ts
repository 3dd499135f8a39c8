/** Tables of passkeys. No back-up contains them (backup.ts). */
import type { Migration } from "../../migrate.ts";

export const PASSKEY_MIGRATIONS: ReadonlyArray<Migration & { part: string }> = [
  {
    part: "passkeys",
    version: 1,
    sql: `
      CREATE TABLE passkey (
        id         TEXT PRIMARY KEY, -- the credential's id, base64url
        person     TEXT NOT NULL, -- the name of their token
        host       TEXT NOT NULL, -- rpId
        name       TEXT NOT NULL,
        algorithm  INTEGER NOT NULL,
        public_key TEXT NOT NULL, -- SPKI, base64url
        counter    INTEGER NOT NULL,
        is_synced  INTEGER NOT NULL,
        made_by    TEXT NOT NULL, -- the way that let it be made
        created_at INTEGER NOT NULL,
        used_at    INTEGER
      ) STRICT, WITHOUT ROWID;
      CREATE TABLE passkey_person (
        person TEXT PRIMARY KEY,
        handle TEXT NOT NULL -- 32 random bytes, base64url
      ) STRICT, WITHOUT ROWID;
      -- Each is good for one use of two minutes.
      CREATE TABLE passkey_challenge (
        nonce  TEXT PRIMARY KEY,
        person TEXT NOT NULL,
        host   TEXT NOT NULL,
        about  TEXT NOT NULL,
        answer TEXT NOT NULL,
        keep   TEXT NOT NULL,
        what   TEXT NOT NULL, -- the hash of what is decided on
        shown  TEXT, -- of a registration: the way that let it begin
        until  INTEGER NOT NULL
      ) STRICT, WITHOUT ROWID;
      CREATE TABLE passkey_code (
        hash   TEXT PRIMARY KEY,
        person TEXT NOT NULL,
        until  INTEGER NOT NULL
      ) STRICT, WITHOUT ROWID;
      -- Accounts of chat apps whose tap confirms dangerous calls too, as an owner decided.
      CREATE TABLE trusted_tap (
        account  TEXT PRIMARY KEY, -- telegram:7
        added_by TEXT NOT NULL,
        added_at INTEGER NOT NULL
      ) STRICT, WITHOUT ROWID;
      ALTER TABLE question ADD COLUMN answered_how TEXT;
      -- The browser in which a press was not enough: a press in another one confirms it.
      ALTER TABLE question ADD COLUMN pressed_in TEXT;
    `,
  },
  {
    part: "passkeys",
    version: 2,
    sql: `
      -- A first passkey that a session alone began waits an hour. Epoch ms.
      ALTER TABLE passkey ADD COLUMN counts_at INTEGER NOT NULL DEFAULT 0;
      -- From then on it confirms dangerous calls and more rights, too.
      ALTER TABLE passkey ADD COLUMN harm_at INTEGER NOT NULL DEFAULT 0;
      -- An owner stopped the person's last one: until then none waits again.
      ALTER TABLE passkey_person ADD COLUMN stopped_until INTEGER NOT NULL DEFAULT 0;
      -- A session that no passkey confirmed made it, so it shows no more than that session.
      ALTER TABLE token ADD COLUMN by_session INTEGER NOT NULL DEFAULT 0;
    `,
  },
];
