/** Schema versions of a Durable Object. `PRAGMA user_version` is refused on the platform, so a table counts. */

/** One step, run once, in a transaction. Never edited after it shipped: a later step corrects it. */
export type Migration = { version: number; sql: string };

/** Whether nothing was ever written here. */
export function isBlank({ sql }: DurableObjectStorage): boolean {
  return sql.exec("SELECT 1 FROM sqlite_master WHERE name = 'migration'").toArray().length === 0;
}

/** Brings the object's tables to the newest version. Costs one row read when they are there already. */
export function migrate(storage: DurableObjectStorage, migrations: readonly Migration[]): void {
  const { sql } = storage;
  sql.exec(
    "CREATE TABLE IF NOT EXISTS migration (version INTEGER PRIMARY KEY, applied_at INTEGER NOT NULL) STRICT",
  );
  const current =
    sql.exec<{ version: number | null }>("SELECT MAX(version) AS version FROM migration").one().version ?? 0;
  for (const step of migrations) {
    if (step.version <= current) continue;
    storage.transactionSync(() => {
      sql.exec(step.sql);
      sql.exec("INSERT INTO migration (version, applied_at) VALUES (?, ?)", step.version, Date.now());
    });
  }
}
