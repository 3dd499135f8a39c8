/** Schema versions of a Durable Object. The platform refuses `PRAGMA user_version`, so a table has the version. */
import { VERSION } from "@edgecall/core/protocol/names.ts";

/** One step, run once in a transaction. A shipped step is never edited; a later step corrects it. */
export type Migration = { version: number; sql: string };

const VERSIONS =
  "CREATE TABLE IF NOT EXISTS migration (version INTEGER PRIMARY KEY, applied_at INTEGER NOT NULL) STRICT";

const NEWER = "NewerRowsError";
/** An object that cannot read its rows keeps its alarm for the gateway that can. */
const ALARM_AGAIN_MS = 3_600_000;

/** A newer gateway wrote the rows: this one might damage what it does not know, so it neither reads nor writes them. */
export class NewerRowsError extends Error {
  override name = NEWER;

  constructor(found: number, newest: number) {
    super(
      `the stored data has version ${found} of the tables, and this gateway (edgecall ${VERSION}) knows up to version ${newest}. ` +
        "A newer edgecall wrote it: install that version or a later one again. Nothing was changed.",
    );
  }
}

/** It may have come from another object, which leaves the name. */
export function isNewerRows(error: Error): boolean {
  return error.name === NEWER;
}

/** @returns true when nothing was ever written here */
export function isBlank({ sql }: DurableObjectStorage): boolean {
  return sql.exec("SELECT 1 FROM sqlite_master WHERE name = 'migration'").toArray().length === 0;
}

/** @returns the refusal, if these rows are not blank and newer than the newest of `migrations` */
export function newerRows(
  storage: DurableObjectStorage,
  migrations: readonly Migration[],
): NewerRowsError | undefined {
  const found = isBlank(storage) ? 0 : versionOf(storage);
  const newest = migrations.at(-1)?.version ?? 0;
  return found > newest ? new NewerRowsError(found, newest) : undefined;
}

/** Call it in the alarm of an object with newer rows: an alarm that throws is tried six times, and then gone. */
export async function postponeAlarm(storage: DurableObjectStorage): Promise<void> {
  await storage.setAlarm(Date.now() + ALARM_AGAIN_MS);
}

function versionOf({ sql }: DurableObjectStorage): number {
  return (
    sql.exec<{ version: number | null }>("SELECT MAX(version) AS version FROM migration").one().version ?? 0
  );
}

/** Migrates the object's tables to the newest version. Costs one row read when they are up to date. */
export function migrate(storage: DurableObjectStorage, migrations: readonly Migration[]): void {
  const { sql } = storage;
  sql.exec(VERSIONS);
  const current = versionOf(storage);
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
