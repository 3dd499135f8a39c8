/** The rows of rules that act. */
import type { Migration } from "../../../kernel/migrate.ts";

export const AUTOMATION_MIGRATIONS: ReadonlyArray<Migration & { part: string }> = [
  {
    part: "automations",
    version: 1,
    sql: `
      CREATE TABLE automation (
        id  TEXT PRIMARY KEY,
        row TEXT NOT NULL CHECK (json_valid(row)) -- AutomationRow (automation-store.ts)
      ) STRICT, WITHOUT ROWID;
      -- Who said last that they are away, or back.
      CREATE TABLE said_presence (
        person TEXT PRIMARY KEY,
        name   TEXT NOT NULL,
        away   INTEGER NOT NULL,
        at     INTEGER NOT NULL -- epoch ms
      ) STRICT, WITHOUT ROWID;
      -- The number of the news that was stored last.
      CREATE TABLE automation_news (
        one INTEGER PRIMARY KEY CHECK (one = 1),
        n   INTEGER NOT NULL
      ) STRICT;
    `,
  },
];
