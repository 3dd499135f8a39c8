/**
 * Backs up and restores the rows of one object, table by table, for any schema. A page of rows is small enough to be held in memory.
 * Between two pages the object may be written to.
 */

import { fromBase64, toBase64 } from "@edgecall/core/encoding.ts";
import { cutText } from "@edgecall/core/text/cut.ts";
import type {
  BackupPage,
  BackupPlace,
  BackupRow,
  BackupSchema,
  BackupValue,
  RestoreStep,
} from "./api/backup.ts";
import { isBlank, type Migration, migrate, newestOf, partVersions } from "./migrate.ts";

/** Characters in a page. A single row may have more (a part of a picture is 512 KiB). */
const PAGE_CHARS = 1_000_000;
const LOOK_AFTER_MS = 1_000;
/** The table in which an import waits until it is complete (see Staging). */
const STAGING = "restoring";
/**
 * A back-up does not contain the home's tokens and grants, what it lends and borrows, or its model: it would restore what was revoked, and
 * a person who writes a back-up could give themselves more rights, or send the home's questions to an address of their own.
 */
const PRESERVED: readonly string[] = [
  "token",
  "lent",
  "borrowed",
  "oauth_grant",
  "oauth_code",
  "oauth_client",
  "passkey",
  "passkey_person",
  "passkey_challenge",
  "passkey_code",
  "trusted_tap",
  "own_model",
];
/**
 * Nor does it contain a conversation's `past`, which is made of other rows (in a back-up those may be newer), or the sessions of
 * agents: with them, whoever reads a back-up could answer for a device.
 */
const NEVER_STORED: readonly string[] = ["past", "agent_session"];
/** Columns that it does not contain: a restored home reads the presence of its agents anew, which begins their sessions. */
const LEFT_OUT: Readonly<Record<string, string>> = { agent: "texts" };
/** Tables that are not backed up: the platform's, those that a migration makes, and what is made anew. */
const SKIPPED = new RegExp(
  `^(_cf_|sqlite_|(migration|part_migration|${[STAGING, ...PRESERVED, ...NEVER_STORED].join("|")})$)`,
);

/** @param from `next` of the previous page; undefined for the first page */
export function backupPage(storage: DurableObjectStorage, from: BackupPlace | undefined): BackupPage {
  const { sql } = storage;
  if (isBlank(storage)) return { schema: 0, rows: [] };
  const version = sql
    .exec<{ version: number }>("SELECT MAX(version) AS version FROM migration")
    .one().version;
  const parts = partVersions(storage);
  const schema = { schema: version, ...(Object.keys(parts).length > 0 && { parts }) };
  const tables = tablesOf(sql);
  const rows: BackupRow[] = [];
  let chars = 0;
  for (const table of tables.slice(from ? tables.indexOf(from.table) : 0)) {
    const keys = keyColumns(sql, table);
    let after = table === from?.table ? from.after : undefined;
    const places = keys.map(() => "?").join(", ");
    for (const row of sql.exec<Record<string, SqlStorageValue>>(
      `SELECT * FROM "${table}" ${after ? `WHERE (${keys.join(", ")}) > (${places})` : ""} ORDER BY ${keys.join(", ")}`,
      ...(after ?? []),
    )) {
      if (chars > PAGE_CHARS) return { ...schema, rows, next: { table, ...(after && { after }) } };
      const values = Object.entries(row)
        .filter(([name]) => name !== LEFT_OUT[table])
        .map(([name, value]) => [name, toBackupValue(value)] as const);
      rows.push({ table, row: Object.fromEntries(values) });
      chars += JSON.stringify(values).length;
      after = keys.map((key) => row[key] as string | number);
    }
  }
  return { ...schema, rows };
}

/** An import that takes longer was abandoned: the Worker that staged it is gone. */
const STAGED_MS = 6 * 3_600_000;
/** Well below the platform's limit of 2 MB for a value. */
const PART_BYTES = 1024 * 1024;
/** Positions in the staging table: the import's id and schema, and the id of the import whose rows were restored. */
const META = 0;
const REPLACED = -1;

export type Restored = {
  ctx: DurableObjectState;
  migrations: readonly Migration[];
  /** Ends work that the restored rows show as running: it has ended since, and must neither continue nor be repeated. */
  giveUp: () => void;
};

/** Does one step of restoring an object. @throws Error with the reason; then nothing was replaced */
export async function restoreStep(object: Restored, step: RestoreStep): Promise<void> {
  const { storage } = object.ctx;
  const staging = new Staging(storage);
  if (step.do === "discard") {
    if (staging.id() !== step.id) return;
    staging.drop();
    // The conversation existed only for this import, so nothing of it stays.
    if (isBlank(storage)) await storage.deleteAll();
    return;
  }
  if (step.do === "stage") {
    if (step.begin) {
      staging.begin(step.id, requireKnown(step.begin, object.migrations));
      await dropStaleImport(object.ctx);
    }
    staging.require(step.id);
    staging.add(step.rows);
    if (step.isWhole) tryOut(object, staging);
    return;
  }
  if (staging.replaced() === step.id) return;
  staging.require(step.id);
  storage.transactionSync(() => {
    build(object, staging);
    staging.drop();
    staging.note(REPLACED, step.id);
  });
  // The object restarts, because its memory belongs to the old rows, and then does what is due.
  await storage.setAlarm(Date.now() + LOOK_AFTER_MS);
  await storage.sync();
  setTimeout(() => object.ctx.abort("restored from an export"), 0);
}

/** @returns true when an abandoned import left rows here */
export function hasStaleImport({ storage }: DurableObjectState): boolean {
  const until = new Staging(storage).until();
  return until !== undefined && until <= Date.now();
}

/** Deletes the rows of an abandoned import. Rows of a running import are checked again later. */
export async function dropStaleImport({ storage }: DurableObjectState): Promise<void> {
  const staging = new Staging(storage);
  const until = staging.until();
  if (until === undefined) return;
  if (until > Date.now()) {
    const alarm = await storage.getAlarm();
    if (alarm === null || alarm > until) await storage.setAlarm(until);
    return;
  }
  staging.drop();
  if (isBlank(storage)) await storage.deleteAll();
}

function requireKnown(of: BackupSchema, migrations: readonly Migration[]): BackupSchema {
  const versions: Array<[field: string, version: number, newest: number]> = [
    ["schema", of.schema, newestOf(migrations)],
    ...Object.entries(of.parts ?? {}).map(([part, version]): [string, number, number] => [
      `parts.${part}`,
      version,
      newestOf(migrations, part),
    ]),
  ];
  for (const [field, version, newest] of versions)
    if (version > newest)
      throw new Error(
        `${field}: the back-up has version ${version}, this gateway ${newest}; update it first`,
      );
  return of;
}

/** @property at epoch ms; 0.2.0 did not store it */
type StagedMeta = BackupSchema & { id: string; at?: number };

/** Stores the rows of an import until it is complete. */
class Staging {
  readonly #storage: DurableObjectStorage;

  constructor(storage: DurableObjectStorage) {
    this.#storage = storage;
  }

  get #sql(): SqlStorage {
    return this.#storage.sql;
  }

  begin(id: string, of: BackupSchema): void {
    this.drop();
    this.note(META, JSON.stringify({ ...of, id, at: Date.now() }));
  }

  note(n: number, text: string): void {
    this.#sql.exec(
      `CREATE TABLE IF NOT EXISTS ${STAGING} (n INTEGER NOT NULL, part INTEGER NOT NULL, data BLOB NOT NULL,
       PRIMARY KEY (n, part)) STRICT`,
    );
    const bytes = new TextEncoder().encode(text);
    for (let part = 0; part === 0 || part * PART_BYTES < bytes.length; part += 1)
      this.#sql.exec(
        `INSERT INTO ${STAGING} (n, part, data) VALUES (?, ?, ?)`,
        n,
        part,
        bytes.slice(part * PART_BYTES, (part + 1) * PART_BYTES).buffer,
      );
  }

  add(rows: readonly BackupRow[]): void {
    if (rows.length === 0) return;
    const { last } = this.#sql.exec<{ last: number }>(`SELECT MAX(n) AS last FROM ${STAGING}`).one();
    this.note(last + 1, JSON.stringify(rows));
  }

  /** @throws when another import has begun since */
  require(id: string): void {
    if (this.id() !== id) throw new Error("another import of this home has begun meanwhile");
  }

  id(): string | undefined {
    return this.#meta()?.id;
  }

  /** The version of these steps that the rows are of. @param part absent: the steps of all parts together */
  version(part: string | undefined): number {
    const meta = this.#meta();
    return (part === undefined ? meta?.schema : meta?.parts?.[part]) ?? 0;
  }

  /** @returns when the staged rows count as abandoned (epoch ms); undefined when nothing is staged. 0.2.0 did not store when it began. */
  until(): number | undefined {
    const meta = this.#meta();
    return meta && (meta.at ?? 0) + STAGED_MS;
  }

  replaced(): string | undefined {
    return this.#text(REPLACED);
  }

  *batches(): Generator<BackupRow[]> {
    const numbers = this.#sql.exec<{ n: number }>(
      `SELECT DISTINCT n FROM ${STAGING} WHERE n > ? ORDER BY n`,
      META,
    );
    // SAFETY: `add` wrote checked rows.
    for (const { n } of numbers.toArray()) yield JSON.parse(this.#text(n) ?? "[]") as BackupRow[];
  }

  drop(): void {
    this.#sql.exec(`DROP TABLE IF EXISTS ${STAGING}`);
  }

  #meta(): StagedMeta | undefined {
    const text = this.#text(META);
    return text === undefined ? undefined : (JSON.parse(text) as StagedMeta);
  }

  #text(n: number): string | undefined {
    if (this.#sql.exec("SELECT 1 FROM sqlite_master WHERE name = ?", STAGING).toArray().length === 0)
      return undefined;
    const parts = this.#sql
      .exec<{ data: ArrayBuffer }>(`SELECT data FROM ${STAGING} WHERE n = ? ORDER BY part`, n)
      .toArray();
    if (parts.length === 0) return undefined;
    const decoder = new TextDecoder();
    return parts.map(({ data }) => decoder.decode(data, { stream: true })).join("") + decoder.decode();
  }
}

/** Restores everything and rolls it back, to find rows that do not fit before anything is lost. @throws Error naming what does not fit */
function tryOut(object: Restored, staging: Staging): void {
  const undo = new Error("tried out");
  try {
    object.ctx.storage.transactionSync(() => {
      build(object, staging);
      throw undo;
    });
  } catch (error) {
    if (error !== undo) throw error;
  }
}

/** Makes the tables of the back-up's schema, inserts its rows and migrates them to today's schema. The home's tokens stay. */
function build({ ctx, migrations, giveUp }: Restored, staging: Staging): void {
  const { storage } = ctx;
  const { sql } = storage;
  const preserved = PRESERVED.flatMap((table) =>
    hasTable(sql, table)
      ? sql
          .exec<Record<string, SqlStorageValue>>(`SELECT * FROM "${table}"`)
          .toArray()
          .map((row) => ({ table, row }))
      : [],
  );
  for (const table of [...tablesOf(sql), ...PRESERVED, ...NEVER_STORED, "migration", "part_migration"])
    sql.exec(`DROP TABLE IF EXISTS "${table}"`);
  migrate(
    storage,
    migrations.filter(({ part, version }) => version <= staging.version(part)),
  );
  // A migration may insert a table's first row, which the back-up contains too.
  for (const table of tablesOf(sql)) sql.exec(`DELETE FROM "${table}"`);
  const home = (ctx.id.name ?? "").split("/", 1)[0] ?? "";
  for (const rows of staging.batches()) insert(sql, rows, home);
  migrate(storage, migrations);
  for (const { table, row } of preserved) insertRow(sql, table, row);
  giveUp();
}

/** @throws Error when a row does not fit its table, or names another home */
function insert(sql: SqlStorage, rows: readonly BackupRow[], home: string): void {
  const known = new Map(tablesOf(sql).map((table) => [table, columnsOf(sql, table)]));
  for (const { table, row } of rows) {
    const columns = known.get(table);
    const names = Object.keys(row);
    const stranger = columns ? names.find((name) => !columns.has(name)) : table;
    // The names become part of the statement, so only names of the schema are allowed.
    if (!columns || stranger !== undefined) throw new Error(`${table}: '${stranger}' is not in this schema`);
    requireOwn(table, row, home);
    const values = Object.entries(row).map(([name, value]) => [name, stored(value)] as const);
    try {
      insertRow(sql, table, Object.fromEntries(values));
    } catch (error) {
      throw new Error(`${table}: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
}

function insertRow(sql: SqlStorage, table: string, row: Record<string, SqlStorageValue>): void {
  const names = Object.keys(row);
  sql.exec(
    `INSERT INTO "${table}" (${names.map((name) => `"${name}"`).join(", ")}) VALUES (${names.map(() => "?").join(", ")})`,
    ...Object.values(row),
  );
}

/** Tables of a home whose `name` is a conversation; columns called `conversation` count in every table. */
const NAMED = /^(conversation|kept_conversation|conversation_reader)$/;

/** A row that names a conversation of another home would give access to it. @throws Error */
function requireOwn(table: string, row: BackupRow["row"], home: string): void {
  for (const column of ["conversation", ...(NAMED.test(table) ? ["name"] : [])]) {
    const name = row[column];
    if (name === undefined || name === null) continue;
    if (typeof name !== "string" || !name.startsWith(`${home}/`))
      throw new Error(`${table}: ${column} is not of this home: '${cutText(String(name), 200)}'`);
  }
}

function hasTable(sql: SqlStorage, table: string): boolean {
  return sql.exec("SELECT 1 FROM sqlite_master WHERE name = ?", table).toArray().length > 0;
}

function tablesOf(sql: SqlStorage): string[] {
  return sql
    .exec<{ name: string }>("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")
    .toArray()
    .map(({ name }) => name)
    .filter((name) => !SKIPPED.test(name));
}

/** @returns the columns that identify a row: the primary key, or the first two columns (media_part has no key) */
function keyColumns(sql: SqlStorage, table: string): string[] {
  const columns = sql
    .exec<{ name: string; pk: number }>("SELECT name, pk FROM pragma_table_info(?) ORDER BY pk, cid", table)
    .toArray();
  const key = columns.filter(({ pk }) => pk > 0);
  return (key.length > 0 ? key : columns.slice(0, 2)).map(({ name }) => name);
}

function columnsOf(sql: SqlStorage, table: string): Set<string> {
  const rows = sql.exec<{ name: string }>("SELECT name FROM pragma_table_info(?)", table).toArray();
  return new Set(rows.map(({ name }) => name));
}

function toBackupValue(value: SqlStorageValue): BackupValue {
  if (!(value instanceof ArrayBuffer)) return value;
  return { base64: toBase64(new Uint8Array(value)) };
}

function stored(value: BackupValue): SqlStorageValue {
  if (typeof value !== "object" || value === null) return value;
  return fromBase64(value.base64).buffer;
}
