/** Schema versions of a Durable Object. The platform refuses `PRAGMA user_version`, so a table has the version. */

/** One step, run once in a transaction. A shipped step is never edited; a later step corrects it. */
export type Migration = { version: number; sql: string };

const VERSIONS =
  "CREATE TABLE IF NOT EXISTS migration (version INTEGER PRIMARY KEY, applied_at INTEGER NOT NULL) STRICT";

/** @returns true when nothing was ever written here */
export function isBlank({ sql }: DurableObjectStorage): boolean {
  return sql.exec("SELECT 1 FROM sqlite_master WHERE name = 'migration'").toArray().length === 0;
}

/** Migrates the object's tables to the newest version. Costs one row read when they are up to date. */
export function migrate(storage: DurableObjectStorage, migrations: readonly Migration[]): void {
  const { sql } = storage;
  sql.exec(VERSIONS);
  const current =
    sql.exec<{ version: number | null }>("SELECT MAX(version) AS version FROM migration").one().version ?? 0;
  for (const step of migrations) {
    if (step.version <= current) continue;
    storage.transactionSync(() => {
      sql.exec(step.sql);
      noteVersion(storage, step.version);
    });
  }
}

/** Notes the newest version in a blank object, whose tables are made as that version has them. */
export function startAt(storage: DurableObjectStorage, migrations: readonly Migration[]): void {
  storage.sql.exec(VERSIONS);
  noteVersion(storage, migrations.at(-1)?.version ?? 0);
}

function noteVersion({ sql }: DurableObjectStorage, version: number): void {
  sql.exec("INSERT INTO migration (version, applied_at) VALUES (?, ?)", version, Date.now());
}
