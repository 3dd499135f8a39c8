/** The steps of the tables of questions after schema.ts, which is frozen. */
import type { Migration } from "../../migrate.ts";

export const QUESTION_MIGRATIONS: readonly Migration[] = [
  {
    part: "questions",
    version: 1,
    sql: `
      -- Who was asked to decide an approval: JSON, Reached[]; null: nobody beside the conversation's own.
      ALTER TABLE question ADD COLUMN asked TEXT CHECK (asked IS NULL OR json_valid(asked));
      -- How far the asking went (escalation.ts), and when it goes on, epoch ms; null: never.
      ALTER TABLE question ADD COLUMN stage INTEGER NOT NULL DEFAULT 1;
      ALTER TABLE question ADD COLUMN ask_more_at INTEGER;
    `,
  },
];
