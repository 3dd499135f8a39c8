/**
 * The rows of one object as they go into a back-up and come out of it: table by table, a page at a time, whatever the
 * schema. A page is what one answer may hold in memory; between two of them others may write.
 */
import { isBlank, type Migration, migrate } from "./migrate.ts";

/** Bytes of text in a page; one row may go over it (a part of a picture is 512 KiB). */
const PAGE_CHARS = 1_000_000;
const LOOK_AFTER_MS = 1_000;
/**
 * Ours and the platform's own, which a schema makes anew. And the home's tokens: a back-up would bring those back that
 * were revoked since, and let whoever writes one make tokens that may more than their own.
 */
const SKIPPED = /^(_cf_|sqlite_|migration$|token$)/;

/** A blob stands as an object of this one key: no other value of a row is an object. */
export type BackupValue = string | number | null | { base64: string };
export type BackupRow = { table: string; row: Record<string, BackupValue> };
/** Where a page ended: the key of its last row. Not a count of rows, for between two pages rows come and go. */
export type BackupPlace = { table: string; after?: Array<string | number> };
export type BackupPage = { schema: number; rows: BackupRow[]; next?: BackupPlace };

/** @param from the `next` of the page before; undefined: the first */
export function backupPage(storage: DurableObjectStorage, from: BackupPlace | undefined): BackupPage {
  const { sql } = storage;
  if (isBlank(storage)) return { schema: 0, rows: [] };
  const schema = sql.exec<{ version: number }>("SELECT MAX(version) AS version FROM migration").one().version;
  const tables = tablesOf(sql);
  const rows: BackupRow[] = [];
  let chars = 0;
  for (const table of tables.slice(from ? tables.indexOf(from.table) : 0)) {
    const keys = keyOf(sql, table);
    let after = table === from?.table ? from.after : undefined;
    const places = keys.map(() => "?").join(", ");
    for (const row of sql.exec<Record<string, SqlStorageValue>>(
      `SELECT * FROM "${table}" ${after ? `WHERE (${keys.join(", ")}) > (${places})` : ""} ORDER BY ${keys.join(", ")}`,
      ...(after ?? []),
    )) {
      if (chars > PAGE_CHARS) return { schema, rows, next: { table, ...(after && { after }) } };
      const values = Object.entries(row).map(([name, value]) => [name, shown(value)] as const);
      rows.push({ table, row: Object.fromEntries(values) });
      chars += JSON.stringify(values).length;
      after = keys.map((key) => row[key] as string | number);
    }
  }
  return { schema, rows };
}

export type RestoreStep = { do: "begin"; schema: number } | { do: "rows"; rows: BackupRow[] } | { do: "end" };

/**
 * One step of putting an object back as it was.
 * @param giveUp what was under way has come to its end since, whatever it was: it must not go on, or be done again
 * @throws with what is wrong
 */
export async function restoreStep(
  ctx: DurableObjectState,
  migrations: readonly Migration[],
  step: RestoreStep,
  giveUp: () => void,
): Promise<void> {
  switch (step.do) {
    case "begin":
      return await begin(ctx.storage, migrations, step.schema);
    case "rows":
      return insert(ctx.storage, step.rows);
    case "end":
      migrate(ctx.storage, migrations);
      giveUp();
      // It looks at once what is due; and whatever it has in memory is of the rows before: it starts anew.
      await ctx.storage.setAlarm(Date.now() + LOOK_AFTER_MS);
      await ctx.storage.sync();
      setTimeout(() => ctx.abort("restored from an export"), 0);
  }
}

/**
 * Empties the object and gives it the tables of a schema.
 * @throws when the back-up is of a schema that this gateway does not know
 */
async function begin(
  storage: DurableObjectStorage,
  migrations: readonly Migration[],
  schema: number,
): Promise<void> {
  const newest = migrations.at(-1)?.version ?? 0;
  if (schema > newest)
    throw new Error(`schema: the back-up has version ${schema}, this gateway ${newest}; update it first`);
  await storage.deleteAll();
  await storage.deleteAlarm();
  migrate(
    storage,
    migrations.filter(({ version }) => version <= schema),
  );
  // A migration may begin a table with a row; the back-up has it.
  for (const table of tablesOf(storage.sql)) storage.sql.exec(`DELETE FROM "${table}"`);
}

/** @throws when a row does not fit its table */
function insert(storage: DurableObjectStorage, rows: readonly BackupRow[]): void {
  const { sql } = storage;
  const known = new Map(tablesOf(sql).map((table) => [table, columnsOf(sql, table)]));
  storage.transactionSync(() => {
    for (const { table, row } of rows) {
      const columns = known.get(table);
      const names = Object.keys(row);
      const stranger = columns ? names.find((name) => !columns.has(name)) : table;
      // Names go into the statement: only those of the schema do.
      if (!columns || stranger !== undefined)
        throw new Error(`${table}: '${stranger}' is not in this schema`);
      sql.exec(
        `INSERT INTO "${table}" (${names.map((name) => `"${name}"`).join(", ")}) VALUES (${names.map(() => "?").join(", ")})`,
        ...Object.values(row).map(stored),
      );
    }
  });
}

function tablesOf(sql: SqlStorage): string[] {
  return sql
    .exec<{ name: string }>("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")
    .toArray()
    .map(({ name }) => name)
    .filter((name) => !SKIPPED.test(name));
}

/** What tells the rows of a table apart: its primary key, or (media_part has none) its first two columns. */
function keyOf(sql: SqlStorage, table: string): string[] {
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

function shown(value: SqlStorageValue): BackupValue {
  if (!(value instanceof ArrayBuffer)) return value;
  const bytes = new Uint8Array(value);
  let text = "";
  // A call takes no more arguments than this.
  for (let at = 0; at < bytes.length; at += 8_192)
    text += String.fromCharCode(...bytes.subarray(at, at + 8_192));
  return { base64: btoa(text) };
}

function stored(value: BackupValue): SqlStorageValue {
  if (typeof value !== "object" || value === null) return value;
  return Uint8Array.from(atob(value.base64), (character) => character.charCodeAt(0)).buffer;
}
