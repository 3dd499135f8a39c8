/** Schema versions of a Durable Object. The platform refuses `PRAGMA user_version`, so a table has the version. */
import { VERSION } from "@edgecall/core/protocol/names.ts";

/**
 * One step, run once in a transaction. A shipped step is never edited; a later step corrects it.
 * @property part the feature whose tables it changes: each counts its own versions from 1. Absent: one of the steps up to 0.4,
 *   which were of all parts together
 */
export type Migration = { version: number; sql: string; part?: string };

/** The newest version of each part's tables. */
export type PartVersions = Readonly<Record<string, number>>;

const VERSIONS =
  "CREATE TABLE IF NOT EXISTS migration (version INTEGER PRIMARY KEY, applied_at INTEGER NOT NULL) STRICT";

const PART_VERSIONS =
  "CREATE TABLE IF NOT EXISTS part_migration (part TEXT NOT NULL, version INTEGER NOT NULL, applied_at INTEGER NOT NULL, PRIMARY KEY (part, version)) STRICT, WITHOUT ROWID";

const NEWER = "NewerRowsError";
/** An object that cannot read its rows keeps its alarm for the gateway that can. */
const ALARM_AGAIN_MS = 3_600_000;

/** A newer gateway wrote the rows: this one might damage what it does not know, so it neither reads nor writes them. */
export class NewerRowsError extends Error {
  override name = NEWER;

  /** @param what whose tables, if not all */
  constructor(found: number, newest: number, what = "") {
    super(
      `the stored data has version ${found} of the tables${what}, and this gateway (edgecall ${VERSION}) knows up to version ${newest}. ` +
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
  if (isBlank(storage)) return undefined;
  const found = versionOf(storage);
  const newest = newestOf(migrations);
  if (found > newest) return new NewerRowsError(found, newest);
  for (const [part, version] of Object.entries(partVersions(storage))) {
    const known = newestOf(migrations, part);
    if (version > known) return new NewerRowsError(version, known, ` of ${part}`);
  }
  return undefined;
}

/** @param part absent: the steps of all parts together */
export function newestOf(migrations: readonly Migration[], part?: string): number {
  return Math.max(0, ...migrations.flatMap((step) => (step.part === part ? [step.version] : [])));
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

/** @returns those parts that have tables of their own steps */
export function partVersions({ sql }: DurableObjectStorage): PartVersions {
  const has = sql.exec("SELECT 1 FROM sqlite_master WHERE name = 'part_migration'").toArray().length > 0;
  if (!has) return {};
  const rows = sql.exec<{ part: string; version: number }>(
    "SELECT part, MAX(version) AS version FROM part_migration GROUP BY part",
  );
  return Object.fromEntries(rows.toArray().map(({ part, version }) => [part, version]));
}

/** Migrates the object's tables to the newest version. Costs one row read when they are up to date. */
export function migrate(storage: DurableObjectStorage, migrations: readonly Migration[]): void {
  const { sql } = storage;
  sql.exec(VERSIONS);
  const current = versionOf(storage);
  const parts = migrations.some(({ part }) => part !== undefined) ? partVersions(storage) : {};
  for (const step of migrations) {
    if (step.version <= (step.part === undefined ? current : (parts[step.part] ?? 0))) continue;
    storage.transactionSync(() => {
      sql.exec(step.sql);
      noteVersion(storage, step);
    });
  }
}

/** Notes the newest version in a blank object, whose tables are made as that version has them. */
export function startAt(storage: DurableObjectStorage, migrations: readonly Migration[]): void {
  storage.sql.exec(VERSIONS);
  noteVersion(storage, { version: newestOf(migrations) });
}

function noteVersion({ sql }: DurableObjectStorage, { version, part }: Omit<Migration, "sql">): void {
  if (part === undefined) {
    sql.exec("INSERT INTO migration (version, applied_at) VALUES (?, ?)", version, Date.now());
    return;
  }
  sql.exec(PART_VERSIONS);
  sql.exec(
    "INSERT INTO part_migration (part, version, applied_at) VALUES (?, ?, ?)",
    part,
    version,
    Date.now(),
  );
}
