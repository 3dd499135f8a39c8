/** The rows that the gateway's objects keep on disk, for a test that changes them while the gateway is down. */
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";

/** Changes the rows of each object that has this table. @param folder of the Worker's rows */
export function changeRows(folder: string, table: string, change: (rows: DatabaseSync) => void): void {
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" });
  for (const file of files.filter((name) => name.endsWith(".sqlite"))) {
    const rows = new DatabaseSync(join(folder, file));
    if (rows.prepare("SELECT 1 FROM sqlite_master WHERE name = ?").get(table)) change(rows);
    rows.close();
  }
}

/** As if whatever people wrote was written so long before. */
export function writtenBefore(folder: string, ms: number): void {
  changeRows(folder, "entry", (rows) =>
    rows.exec(
      `UPDATE entry SET body = json_set(body, '$.at', (body ->> '$.at') - ${ms}) WHERE kind = 'begin'`,
    ),
  );
}
