/** The rows of standing permissions. */
import type { Migration } from "../../migrate.ts";

export const PERMISSION_MIGRATIONS: ReadonlyArray<Migration & { part: string }> = [
  {
    part: "permissions",
    version: 1,
    sql: `
      -- What devices may be told without a question (core/permissions/permission.ts).
      CREATE TABLE standing_permission (
        id        TEXT PRIMARY KEY,
        key       TEXT NOT NULL, -- of the device
        row       TEXT NOT NULL CHECK (json_valid(row)), -- the permission as the person allowed it
        since     INTEGER, -- epoch ms: written out for what a person allowed then, up to 0.3; null: allowed on a card
        told      INTEGER NOT NULL DEFAULT 1, -- 0: the owners have to be told that it was written out
        uses      INTEGER NOT NULL DEFAULT 0,
        used_at   INTEGER, -- epoch ms
        ended_at  INTEGER, -- epoch ms; null: it holds
        ended_why TEXT,
        ended_by  TEXT -- the person; null: the gateway
      ) STRICT, WITHOUT ROWID;
      -- What a question offers to keep with a yes, as it was shown.
      CREATE TABLE permission_offer (
        question TEXT PRIMARY KEY,
        offers   TEXT NOT NULL CHECK (json_valid(offers)),
        until    INTEGER NOT NULL -- epoch ms: the question is closed by then
      ) STRICT, WITHOUT ROWID;
    `,
  },
];
