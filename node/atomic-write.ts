/**
 * Writes files so that a reader, and the next start after a power cut, finds the old content or the new, never a part.
 *
 * What a file needs:
 * - Every file: the text goes into `PATH.next`, which is then renamed. A rename is one step.
 * - A file that outlives a power cut: `PATH.next` is synced before the rename, or the new name may hold an empty file;
 *   the folder is synced after it, or the old file may come back. `writeAtomic`,
 *   `writeAtomicSync` and `linkAtomic` do both.
 * - A file in memory (RUNTIME_DIRECTORY) ends with the boot, so it is never synced: `replaceInMemory`.
 *
 * The device tools that write a person's files have a writer of their own (pi-agent/env/local-files.ts): it also keeps
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
  /** Exactly this, whatever the umask is. Default: 0o600, for its owner alone. */
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
    // Before the content: a `.next` that a power cut left may be open to others.
    setMode(handle.fd, mode);
    await handle.writeFile(content);
    await handle.sync();
  } finally {
    await handle.close();
  }
  await rename(next, path);
  await syncFolder(folder);
}

/** `writeAtomic` before it returns: a slow disk holds up everything else meanwhile. @throws as it */
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
  const held = openSync(folder, "r");
  try {
    fsyncSync(held);
  } catch (error) {
    if (!isWithoutSync(error)) throw error;
  } finally {
    closeSync(held);
  }
}

/** Makes `path` a symbolic link to `target`, durably, in place of what is there. @throws the system's error */
export async function linkAtomic(target: string, path: string): Promise<void> {
  const next = `${path}.next`;
  // A power cut may have left one.
  await rm(next, { force: true });
  await symlink(target, next);
  await rename(next, path);
  await syncFolder(dirname(path));
}

/** A new name in a folder survives a power cut only when the folder is synced too. @throws the system's error */
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

/** Some network file systems have no sync for folders. */
function isWithoutSync(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).code === "EINVAL";
}

/**
 * Puts `text` at `path`, which is in memory, at once and without a sync.
 * @throws the system's error
 */
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
    // A file system without modes (FAT) refuses: there the mount decides.
    if ((error as NodeJS.ErrnoException).code !== "EPERM") throw error;
  }
}
