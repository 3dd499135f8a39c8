/**
 * What is wrong with the files of the gateway's rows on this machine. The Worker cannot see them, so it asks here (the binding
 * ROWS) when an object fails, and for its status.
 */
import { access, constants, open, readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { conditionOf } from "@edgecall/core/conditions/conditions.ts";
import type { Condition } from "@edgecall/core/protocol/conditions.ts";
import { findUnwritable, unwritableBy, unwritableCondition } from "@edgecall/node/writable.ts";

const MAGIC = "SQLite format 3\0";
/** Files that are looked into, the newest first: a home has one for each conversation. */
const FILES_MAX = 100;
/** Words of SQLite in the runtime's log. */
const SAID = /SQLITE_(FULL|READONLY|CANTOPEN|IOERR|PERM|CORRUPT|NOTADB)/;
/** After such words a look tries harder for so long. */
const IN_DOUBT_MS = 60_000;

export class RowsState {
  readonly #dir: string;
  #saidAt = Number.NEGATIVE_INFINITY;
  #isDamaged = false;

  /** @param dir of the Workers runtime */
  constructor(dir: string) {
    this.#dir = dir;
  }

  /** A line of the runtime. */
  onLine(line: string): void {
    const code = SAID.exec(line)?.[1];
    if (code === undefined) return;
    this.#saidAt = performance.now();
    if (code === "CORRUPT" || code === "NOTADB") this.#isDamaged = true;
  }

  /** Looks now. @returns none: nothing is wrong */
  async conditions(): Promise<Condition[]> {
    const inDoubt = performance.now() - this.#saidAt < IN_DOUBT_MS;
    const unwritable = await findUnwritable(this.#dir, { tries: true, inDoubt });
    if (unwritable) return [unwritableCondition("rows", unwritable)];
    if (!inDoubt && !this.#isDamaged) return [];
    const files = await this.#files();
    const refused = await firstOf(files, findRefused);
    if (refused) return [refused];
    if (!this.#isDamaged) return [];
    const damaged = await firstOf(files, isDamaged);
    // Restored meanwhile, or in a file that nobody looked into.
    if (damaged === undefined) this.#isDamaged = inDoubt;
    return this.#isDamaged ? [conditionOf("rows_damaged", { file: damaged ?? this.#dir })] : [];
  }

  /** The files of rows: the homes' first, then the newest. */
  async #files(): Promise<string[]> {
    const names = await readdir(this.#dir, { recursive: true }).catch(() => []);
    const found = names.filter((name) => name.endsWith(".sqlite")).map((name) => join(this.#dir, name));
    const known = await Promise.all(
      found.map(async (file) => ({ file, at: (await stat(file).catch(() => undefined))?.mtimeMs ?? 0 })),
    );
    const rank = ({ file, at }: { file: string; at: number }) => (file.includes("-Home/") ? 1e15 : 0) + at;
    return known
      .sort((a, b) => rank(b) - rank(a))
      .slice(0, FILES_MAX)
      .map(({ file }) => file);
  }
}

async function firstOf<T>(
  files: readonly string[],
  find: (file: string) => Promise<T | undefined>,
): Promise<T | undefined> {
  for (const file of files) {
    const found = await find(file);
    if (found !== undefined) return found;
  }
  return undefined;
}

async function findRefused(file: string): Promise<Condition | undefined> {
  try {
    await access(file, constants.R_OK | constants.W_OK);
    return undefined;
  } catch (error) {
    return unwritableCondition("rows", unwritableBy(file, error));
  }
}

/** @returns the file if SQLite cannot read it */
async function isDamaged(file: string): Promise<string | undefined> {
  const handle = await open(file, "r").catch(() => undefined);
  if (!handle) return undefined;
  try {
    const { bytesRead, buffer } = await handle.read(Buffer.alloc(MAGIC.length), 0, MAGIC.length, 0);
    // A file of an object that has written nothing yet is empty.
    if (bytesRead > 0 && buffer.toString("latin1") !== MAGIC) return file;
  } finally {
    await handle.close();
  }
  try {
    const { DatabaseSync } = await import("node:sqlite");
    const rows = new DatabaseSync(file, { readOnly: true });
    try {
      const checked = rows.prepare("PRAGMA quick_check(1)").get();
      return checked?.quick_check === "ok" ? undefined : file;
    } finally {
      rows.close();
    }
  } catch (error) {
    return /malformed|not a database/.test(String(error)) ? file : undefined;
  }
}
