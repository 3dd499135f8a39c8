/** Counts the rows of the objects in the files where Miniflare stores them, while no program has them open. */
import { globSync } from "node:fs";
import { basename, join } from "node:path";
import { DatabaseSync } from "node:sqlite";

/**
 * The rows by table, such as `Conversation.entry`; the number of objects with tables; and the number of objects with a
 * file, which workerd makes for each object that it starts.
 */
export type Rows = Record<string, number>;

/** @param dir the gateway's folder; the gateway must not run */
export function countRows(dir: string): Rows {
  const rows: Rows = {};
  for (const kind of ["Home", "Conversation"])
    for (const file of globSync(`**/*-${kind}/*.sqlite`, { cwd: dir })) {
      if (basename(file) === "metadata.sqlite") continue;
      rows[`${kind} databases`] = (rows[`${kind} databases`] ?? 0) + 1;
      addRows(rows, kind, join(dir, file));
    }
  return rows;
}

function addRows(rows: Rows, kind: string, file: string): void {
  const database = new DatabaseSync(file, { readOnly: true });
  try {
    const tables = database.prepare("SELECT name FROM sqlite_master WHERE type = 'table'").all();
    const names = tables.map(({ name }) => String(name)).filter((name) => !/^(_cf|_mf|sqlite)_/.test(name));
    if (names.length > 0) rows[`${kind} objects`] = (rows[`${kind} objects`] ?? 0) + 1;
    for (const name of names) {
      const count = database.prepare(`SELECT COUNT(*) AS count FROM "${name}"`).get()?.count;
      rows[`${kind}.${name}`] = (rows[`${kind}.${name}`] ?? 0) + Number(count);
    }
  } finally {
    database.close();
  }
}
