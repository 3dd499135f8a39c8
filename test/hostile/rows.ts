/** Counts the rows of the objects, in the files where Miniflare keeps them, while nobody has them open. */
import { globSync } from "node:fs";
import { basename, join } from "node:path";
import { DatabaseSync } from "node:sqlite";

/**
 * By table, as `Conversation.turn`; how many objects have tables at all; and how many have a file, which workerd makes for
 * each that was woken.
 */
export type Rows = Record<string, number>;

/** @param dir the gateway's; it must not run */
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
