/** Files of this machine, confined by PathGuard. */
import { randomBytes } from "node:crypto";
import { constants, type Stats } from "node:fs";
import { type FileHandle, lstat, mkdir, open, readdir, rename, rmdir, unlink } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { syncFolder } from "@edgecall/node/atomic-write.ts";
import { freeOf } from "./bounded-writes.ts";
import { type DirEntry, type FileInfo, type FileKind, type FileOps, PERMISSIONS } from "./environment.ts";
import {
  type Access,
  absent,
  changedMeanwhile,
  diskFull,
  isFolder,
  notFolder,
  notRegular,
  systemError,
} from "./file-errors.ts";
import { type GuardedPlace, type Held, PathGuard } from "./path-guard.ts";

/** Bytes between two checks of the signal. */
const CHUNK_BYTES = 1024 * 1024;
/** Most bytes read from files without a size (in /proc and /sys). */
const UNSIZED_MAX_BYTES = 1024 * 1024;

export function localFiles(place: GuardedPlace): FileOps {
  const guard = new PathGuard(place);
  const { minFreeBytes = 0 } = place;
  return {
    async stat(path, { signal } = {}) {
      signal?.throwIfAborted();
      const { real, is, link } = await guard.resolve(path, "read");
      if (link) return infoOf(link);
      if (is === "absent") throw absent(path);
      return await holding(guard.hold(real, path, "read"), async ({ stats }) => infoOf(stats));
    },

    async readFile(path, { signal, offset = 0, length } = {}) {
      signal?.throwIfAborted();
      const { real } = await guard.resolve(path, "read");
      return await attempt(path, "read", signal, () =>
        holding(guard.hold(real, path, "read"), async (held) => {
          refuseIrregular(held.stats, path);
          const most = held.stats.size > 0 ? Math.max(0, held.stats.size - offset) : UNSIZED_MAX_BYTES;
          // Opens exactly the file that was judged; O_NONBLOCK in case it became a FIFO on a system without O_PATH.
          const file = await open(held.path, constants.O_RDONLY | constants.O_NONBLOCK);
          try {
            return await readPart(file, offset, Math.min(length ?? most, most), signal);
          } finally {
            await file.close();
          }
        }),
      );
    },

    async writeFile(path, bytes, { signal, mode, judged } = {}) {
      signal?.throwIfAborted();
      const { real } = await guard.resolve(path, "write");
      await guard.refuseGit(real, path, judged);
      if (judged && judged.real !== real) throw changedMeanwhile(path);
      if (path.endsWith("/")) throw isFolder(path);
      await attempt(path, "write", signal, () =>
        holding(guard.hold(dirname(real), path, "write"), async (folder) => {
          if (!folder.stats.isDirectory()) throw notFolder(path);
          const free = await freeOf(folder.path);
          if (free - bytes.length < minFreeBytes) throw diskFull(path, free, minFreeBytes);
          await replace(folder, basename(real), path, bytes, mode);
        }),
      );
    },

    async readDir(path, { signal } = {}) {
      signal?.throwIfAborted();
      const { real } = await guard.resolve(path, "read");
      return await attempt(path, "read", signal, () =>
        holding(guard.hold(real, path, "read"), async (held) => {
          if (!held.stats.isDirectory()) throw notFolder(path);
          const entries = await readdir(held.path, { withFileTypes: true });
          return entries
            .map((entry): DirEntry => ({ name: entry.name, kind: kindOf(entry) }))
            .sort((a, b) => (a.name < b.name ? -1 : 1));
        }),
      );
    },

    async mkdirAll(path, { signal, judged } = {}) {
      signal?.throwIfAborted();
      const { real, is } = await guard.resolve(path, "write");
      await guard.refuseGit(real, path, judged);
      if (judged && is === "absent" && dirname(judged.real) !== real) throw changedMeanwhile(path);
      await attempt(path, "write", signal, () => makeFolders(guard, real, path));
    },

    async remove(path, { signal, judged } = {}) {
      signal?.throwIfAborted();
      const { folder, name } = await guard.findEntry(path, "write");
      await guard.refuseGit(join(folder, name), path, judged);
      if (judged && judged.real !== (await guard.resolve(path, "write")).real) throw changedMeanwhile(path);
      await attempt(path, "write", signal, () =>
        holding(guard.hold(folder, path, "write"), async (held) => {
          const entry = join(held.path, name);
          const stats = await lstat(entry);
          // A link itself is deleted, although its target was judged.
          if (judged && !stats.isSymbolicLink() && judged.real !== join(folder, name))
            throw changedMeanwhile(path);
          if (stats.isDirectory()) await rmdir(entry);
          else await unlink(entry);
          await syncHeld(held);
        }),
      );
    },

    async target(path, { signal } = {}) {
      signal?.throwIfAborted();
      return await guard.target(path);
    },

    async canonical(path, access, { signal } = {}) {
      signal?.throwIfAborted();
      return (await guard.resolve(path, access)).real;
    },
  };
}

async function holding<T>(opening: Promise<Held>, work: (held: Held) => Promise<T>): Promise<T> {
  const held = await opening;
  try {
    return await work(held);
  } finally {
    await held.close();
  }
}

/** Converts system errors to FileError; an abort passes unchanged. */
async function attempt<T>(
  path: string,
  access: Access,
  signal: AbortSignal | undefined,
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw signal?.aborted ? signal.reason : systemError(error, path, access);
  }
}

async function readPart(
  file: FileHandle,
  offset: number,
  length: number,
  signal: AbortSignal | undefined,
): Promise<Uint8Array> {
  const bytes = Buffer.allocUnsafe(length);
  let filled = 0;
  while (filled < length) {
    signal?.throwIfAborted();
    const want = Math.min(CHUNK_BYTES, length - filled);
    const { bytesRead } = await file.read(bytes, filled, want, offset + filled);
    if (bytesRead === 0) break;
    filled += bytesRead;
  }
  return bytes.subarray(0, filled);
}

/**
 * Replaces a person's file: a reader sees the old one or the new, whole. Not `writeAtomic`: it keeps owner and mode, the
 * folder is held open against links, and the temporary name is random, since others may write there too.
 */
async function replace(
  folder: Held,
  name: string,
  path: string,
  bytes: Uint8Array,
  mode: number | undefined,
): Promise<void> {
  const target = join(folder.path, name);
  const old = await lstat(target).catch(() => undefined);
  if (old) refuseIrregular(old, path);
  const next = join(folder.path, `.edgecall-${randomBytes(6).toString("hex")}.tmp`);
  const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;
  const file = await open(next, flags, old ? 0o600 : (mode ?? 0o666) & PERMISSIONS);
  try {
    try {
      if (old) await keepOwnerAndMode(file, old);
      await file.writeFile(bytes);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(next, target);
  } catch (error) {
    await unlink(next).catch(() => {});
    throw error;
  }
  await syncHeld(folder);
}

/** Another content does not keep the right to run as the file's owner, as the kernel has it for a plain write. */
async function keepOwnerAndMode(file: FileHandle, old: Stats): Promise<void> {
  const now = await file.stat();
  // Only root may change the owner. Another user's replacement belongs to that user, as with an editor.
  if (now.uid !== old.uid || now.gid !== old.gid) await file.chown(old.uid, old.gid).catch(() => {});
  await file.chmod(old.mode & PERMISSIONS);
}

/** Syncs the folder if possible: it may be writable without being readable. */
async function syncHeld(folder: Held): Promise<void> {
  await syncFolder(folder.path).catch(() => {});
}

/** Makes one folder at a time, each inside the held one, so that no link can get in between. */
async function makeFolders(guard: PathGuard, real: string, path: string): Promise<void> {
  const missing: string[] = [];
  let from = real;
  let held = await guard.hold(from, path, "write").catch(missingOnly);
  while (held === undefined) {
    missing.unshift(basename(from));
    from = dirname(from);
    held = await guard.hold(from, path, "write").catch(missingOnly);
  }
  try {
    if (!held.stats.isDirectory()) throw notFolder(path);
    for (const name of missing) {
      await mkdir(join(held.path, name)).catch(ignoreExisting);
      const next = await guard.holdEntry(held, name, path, "write");
      await held.close();
      held = next;
      if (!held.stats.isDirectory()) throw notFolder(path);
    }
  } finally {
    await held.close();
  }
}

function missingOnly(error: unknown): undefined {
  if ((error as { code?: unknown }).code !== "not_found") throw error;
  return undefined;
}

function ignoreExisting(error: NodeJS.ErrnoException): void {
  if (error.code !== "EEXIST") throw error;
}

function refuseIrregular(stats: Stats, path: string): void {
  if (stats.isDirectory()) throw isFolder(path);
  if (!stats.isFile()) throw notRegular(path);
}

function infoOf(stats: Stats): FileInfo {
  return {
    kind: kindOf(stats),
    bytes: stats.size,
    mode: stats.mode & 0o7777,
    modifiedAt: Math.round(stats.mtimeMs),
  };
}

function kindOf(entry: { isFile(): boolean; isDirectory(): boolean; isSymbolicLink(): boolean }): FileKind {
  if (entry.isFile()) return "file";
  if (entry.isDirectory()) return "directory";
  return entry.isSymbolicLink() ? "link" : "other";
}
