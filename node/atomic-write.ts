/**
 * Writes files so that a reader, and the next start after a power cut, finds the old content or the new, never a part.
 *
 * - The text always goes into `PATH.next`, which is then renamed. A rename is one step.
 * - A file that must outlive a power cut needs two syncs: `PATH.next` before the rename, or the new name may hold an empty
 *   file; and the folder after it, or the old file may come back. `writeAtomic`, `writeAtomicSync` and `linkAtomic` do both.
 * - A file in memory (RUNTIME_DIRECTORY) ends with the boot, so `replaceInMemory` does not sync it.
 *
 * The device tools that write a person's files have a writer of their own (pi-agent/env/local-files.ts). It also keeps
 * owner and mode of the old file, and works in a folder that it holds open.
 */
import {
  closeSync,
  fchmodSync,
  fstatSync,
  fsyncSync,
  mkdirSync,
  openSync,
  renameSync,
  writeFileSync,
} from "node:fs";
import { mkdir, open, rename, rm, symlink } from "node:fs/promises";
import { dirname } from "node:path";

export type AtomicWrite = {
  /** The file's exact mode, whatever the umask is. Default: 0o600, for its owner alone. */
  mode?: number;
  /** Makes missing folders, with mode 0o700. Default: true. */
  makeFolder?: boolean;
};

/**
 * Puts `content` at `path`, durably. One call at a time for a path.
 * @throws the system's error; the file is then the old one or the new one, whole
 */
export async function writeAtomic(
  path: string,
  content: string | Uint8Array,
  { mode = 0o600, makeFolder = true }: AtomicWrite = {},
): Promise<void> {
  const folder = dirname(path);
  if (makeFolder) await mkdir(folder, { recursive: true, mode: 0o700 });
  const next = `${path}.next`;
  const handle = await open(next, "w", mode);
  try {
    // The mode is set before the content: a `.next` that a power cut left may be readable for others.
    setMode(handle.fd, mode);
    await handle.writeFile(content);
    await handle.sync();
  } finally {
    await handle.close();
  }
  await rename(next, path);
  await syncFolder(folder);
}

/** Like `writeAtomic`, but blocks the process until the disk is done. @throws the system's error */
export function writeAtomicSync(
  path: string,
  content: string | Uint8Array,
  { mode = 0o600, makeFolder = true }: AtomicWrite = {},
): void {
  const folder = dirname(path);
  if (makeFolder) mkdirSync(folder, { recursive: true, mode: 0o700 });
  const next = `${path}.next`;
  const file = openSync(next, "w", mode);
  try {
    setMode(file, mode);
    writeFileSync(file, content);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
  renameSync(next, path);
  const directory = openSync(folder, "r");
  try {
    fsyncSync(directory);
  } catch (error) {
    if (!isWithoutSync(error)) throw error;
  } finally {
    closeSync(directory);
  }
}

/** Makes `path` a symbolic link to `target`, durably; replaces what is there. @throws the system's error */
export async function linkAtomic(target: string, path: string): Promise<void> {
  const next = `${path}.next`;
  // A power cut may have left this file.
  await rm(next, { force: true });
  await symlink(target, next);
  await rename(next, path);
  await syncFolder(dirname(path));
}

/** Syncs a folder: only then a new name in it survives a power cut. @throws the system's error */
export async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, "r");
  try {
    await folder.sync();
  } catch (error) {
    if (!isWithoutSync(error)) throw error;
  } finally {
    await folder.close();
  }
}

/** True for a file system that cannot sync folders, as some network file systems. */
function isWithoutSync(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).code === "EINVAL";
}

/** Puts `text` at `path`, which is in memory, at once and without a sync. @throws the system's error */
export function replaceInMemory(path: string, text: string, mode: number): void {
  const next = `${path}.next`;
  writeFileSync(next, text, { mode });
  renameSync(next, path);
}

function setMode(fd: number, mode: number): void {
  if ((fstatSync(fd).mode & 0o777) === mode) return;
  try {
    fchmodSync(fd, mode);
  } catch (error) {
    // A file system without modes (FAT) refuses. There the mount decides.
    if ((error as NodeJS.ErrnoException).code !== "EPERM") throw error;
  }
}
