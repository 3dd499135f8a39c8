/** Says why a folder cannot be written: its disk is full or read-only, or it is another user's. */
import { access, constants, mkdir, open, rm, statfs } from "node:fs/promises";
import { join } from "node:path";
import { conditionOf } from "@edgecall/core/conditions/conditions.ts";
import type { Condition } from "@edgecall/core/protocol/conditions.ts";
import { messageOf } from "./log.ts";

/** Below so much free space only a write shows whether there is room. */
const ROOM_BYTES = 64 * 1024;
/** A page, which a disk without room does not take. */
const TRIED_BYTES = 4_096;
const TRIED_FILE = "room.next";

/** `error`: the system's code, or its words. */
type Unwritable = { kind: "full" | "read_only" | "refused"; path: string; error: string };

export type Look = {
  /** It may make the folder, and write a page to find out. */
  tries: boolean;
  /** It writes one even where nothing looks wrong. */
  inDoubt?: boolean;
};

/** @returns undefined: the folder can be written */
export async function findUnwritable(
  folder: string,
  { tries, inDoubt = false }: Look,
): Promise<Unwritable | undefined> {
  try {
    if (tries) await mkdir(folder, { recursive: true, mode: 0o700 });
    await access(folder, constants.W_OK);
    const { bavail, bsize } = await statfs(folder);
    const free = bavail * bsize;
    if (!tries) return free < TRIED_BYTES ? { kind: "full", path: folder, error: "ENOSPC" } : undefined;
    if (inDoubt || free < ROOM_BYTES) await tryWrite(folder);
    return undefined;
  } catch (error) {
    // Its program makes it.
    if (!tries && (error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    return unwritableBy(folder, error);
  }
}

/** @param error of a write at that path */
export function unwritableBy(path: string, error: unknown): Unwritable {
  const code = String((error as NodeJS.ErrnoException | undefined)?.code ?? "");
  const kind = code === "ENOSPC" || code === "EDQUOT" ? "full" : code === "EROFS" ? "read_only" : "refused";
  return { kind, path, error: code || messageOf(error) };
}

const CODES = {
  state: { full: "disk_full", read_only: "disk_read_only", refused: "state_unwritable" },
  rows: { full: "rows_full", read_only: "rows_read_only", refused: "rows_unwritable" },
} as const;

/** @param of an agent's state, or a gateway's rows */
export function unwritableCondition(of: keyof typeof CODES, { kind, path, error }: Unwritable): Condition {
  return conditionOf(CODES[of][kind], { path, error });
}

async function tryWrite(folder: string): Promise<void> {
  const path = join(folder, TRIED_FILE);
  try {
    const file = await open(path, "w", 0o600);
    try {
      await file.writeFile(Buffer.alloc(TRIED_BYTES));
      await file.datasync();
    } finally {
      await file.close();
    }
  } finally {
    await rm(path, { force: true }).catch(() => {});
  }
}
