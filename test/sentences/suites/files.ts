/** Files of a suite that a person has. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** The names in a folder, sorted; none where there is no such folder. */
export function namesIn(...path: string[]): string[] {
  try {
    return readdirSync(join(...path)).sort();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
    throw error;
  }
}

export const textOf = (...path: string[]): string => readFileSync(join(...path), "utf8");

/** Rows of a CSV file with quotes, by the names of its first line. A row without a value for each name is left out. */
export function rowsOf(csv: string): Record<string, string>[] {
  const [head = [], ...rows] = csv.split(/\r?\n/).map(cellsOf);
  return rows
    .filter((cells) => cells.length >= head.length)
    .map((cells) => Object.fromEntries(head.map((name, at) => [name, cells[at] ?? ""])));
}

const cellsOf = (line: string): string[] =>
  [...line.matchAll(/(?:^|,)(?:"((?:[^"]|"")*)"|([^,]*))/g)].map((cell) =>
    (cell[1]?.replaceAll('""', '"') ?? cell[2] ?? "").trim(),
  );
