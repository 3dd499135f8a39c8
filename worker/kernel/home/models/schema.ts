/** The row of the model that an owner set. */
import type { Migration } from "../../migrate.ts";

export const MODEL_MIGRATIONS: ReadonlyArray<Migration & { part: string }> = [
  {
    part: "model",
    version: 1,
    sql: `
      -- The model that an owner set in Setup; at most one (docs/decisions).
      CREATE TABLE own_model (
        one      INTEGER PRIMARY KEY CHECK (one = 1),
        base_url TEXT NOT NULL,
        api      TEXT, -- null: by the address
        model    TEXT NOT NULL,
        key      TEXT, -- sealed (stored-secrets.ts); null: it has none
        set_by   TEXT NOT NULL,
        set_at   INTEGER NOT NULL -- epoch ms
      ) STRICT;
    `,
  },
];
