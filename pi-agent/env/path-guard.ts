/**
 * Confines file operations to the workspace, and allows reading a few further paths.
 *
 * A path is judged by its target, with all links resolved, and exactly that target is used. Node has no openat2 with
 * RESOLVE_BENEATH, so the path is first resolved and judged. Then it is opened with O_NOFOLLOW and O_PATH (which has no
 * effect on a FIFO or device), and the real place of the open file is judged again. All further work uses
 * `/proc/self/fd/N`, which stays the same file whatever happens to its name.
 *
 * macOS has neither O_PATH nor /proc. There the second check uses the name, so a process that swaps links in the workspace at
 * the right microsecond can win. On all systems a hard link to an outside file looks like a file inside; Linux lets only
 * the owner of a file make one (fs.protected_hardlinks).
 */
import { constants, type Stats } from "node:fs";
import { type FileHandle, lstat, open, readlink, realpath } from "node:fs/promises";
import { dirname, isAbsolute, join, resolve, sep } from "node:path";
import type { Target } from "@edgecall/core/tools/contract.ts";
import { FileError } from "./environment.ts";
import { type Access, changedMeanwhile, gitFolder, notFolder, outside, systemError } from "./file-errors.ts";
import { isInGitFolder } from "./git-folder.ts";

/** Files outside the workspace that identify the system. */
export const READABLE_FILES = ["/etc/hostname", "/etc/os-release"] as const;

export type GuardedPlace = {
  /** The workspace, absolute. */
  cwd: string;
  /** Further files and folders that may be read; absent = READABLE_FILES. */
  readable?: readonly string[];
  /** Further folders that may be read and written. */
  writable?: readonly string[];
  /** Bytes to keep free on the disk; below that nothing is written. */
  minFreeBytes?: number;
  /** A root below which `readable` is searched, for tests. */
  root?: string;
};

/**
 * The target of a path, without links, as far as it exists. `link`: the path is a dangling link, and these are the link's own
 * stats.
 */
export type Found = { real: string; is: "there" | "absent"; link?: Stats };

/** An opened and judged file. `path` always leads to exactly this file. */
export type Held = { path: string; stats: Stats; close(): Promise<void> };

const ON_LINUX = process.platform === "linux";
/** Missing from Node's constants; the same on every Linux architecture that Node supports. */
const O_PATH = 0o10000000;
const HOLD = constants.O_NOFOLLOW | (ON_LINUX ? O_PATH : constants.O_RDONLY | constants.O_NONBLOCK);
/** Linux' MAXSYMLINKS. */
const MAX_LINKS = 40;

export class PathGuard {
  readonly #cwd: string;
  readonly #root: string;
  readonly #readable: readonly string[];
  readonly #writable: readonly string[];

  constructor({ cwd, readable = READABLE_FILES, writable = [], root = "/" }: GuardedPlace) {
    this.#cwd = resolve(cwd);
    this.#root = root;
    this.#readable = readable;
    this.#writable = writable.map((path) => resolve(path));
  }

  /** Returns the target of the path. @throws FileError when it is not allowed */
  async resolve(path: string, access: Access): Promise<Found> {
    const named = this.#locate(path, access);
    const allowed = await this.#allowed(access);
    if (!allows([...allowed, ...this.#named(access)], named)) throw this.#outside(path, access);
    try {
      const found = await follow(named);
      if (!allows(allowed, found.real)) throw this.#outside(path, access);
      if (found.is === "absent") {
        const link = await lstat(named).catch(() => undefined);
        return { ...found, ...(link?.isSymbolicLink() && { link }) };
      }
      if (path.endsWith("/") && !(await lstat(found.real)).isDirectory()) throw notFolder(path);
      return found;
    } catch (error) {
      throw systemError(error, path, access);
    }
  }

  /** Returns the folder of a path and the name in it; a link at the end is not followed. */
  async findEntry(path: string, access: Access): Promise<{ folder: string; name: string }> {
    const named = this.#locate(path, access);
    const folder = await this.resolve(dirname(named), access);
    return { folder: folder.real, name: named.slice(named.lastIndexOf(sep) + 1) };
  }

  /** Returns the target of a write. */
  async target(path: string): Promise<Target> {
    const { real } = await this.resolve(path, "write");
    const named = this.#locate(path, "write");
    // A link to the workspace itself does not count as a link.
    const plain = await Promise.all(
      this.#named("write").map(async (top) =>
        allows([top], named) ? join(await realpath(top).catch(() => top), named.slice(top.length)) : named,
      ),
    );
    return { path, real, link: !plain.includes(real), git: await this.#isGit(real) };
  }

  /** @throws FileError `blocked` for a place in git's folder, unless the call was judged as such */
  async refuseGit(real: string, path: string, judged: Target | undefined): Promise<void> {
    if (judged?.git !== true && (await this.#isGit(real))) throw gitFolder(path);
  }

  async #isGit(real: string): Promise<boolean> {
    const tops = await this.#allowed("write");
    const top = tops.find((one) => allows([one], real));
    return top !== undefined && (await isInGitFolder(top, real));
  }

  /** Opens the result of `find` and judges it again. @param path the requested path, for error texts */
  async hold(real: string, path: string, access: Access): Promise<Held> {
    return await this.#hold(real, path, access, real);
  }

  /** Opens an entry of a held folder by its name. */
  async holdEntry(folder: Held, name: string, path: string, access: Access): Promise<Held> {
    return await this.#hold(join(folder.path, name), path, access);
  }

  /** @param expected the place that a write must reach, since a folder on the path may have become a link */
  async #hold(name: string, path: string, access: Access, expected?: string): Promise<Held> {
    let handle: FileHandle | undefined;
    try {
      handle = await open(name, HOLD);
      const stats = await handle.stat();
      const real = await placeOf(handle, name, stats);
      if (stats.isSymbolicLink() || !allows(await this.#allowed(access), real)) throw changedMeanwhile(path);
      if (access === "write" && expected !== undefined && real !== expected) throw changedMeanwhile(path);
      const held = handle;
      return {
        path: ON_LINUX ? `/proc/self/fd/${held.fd}` : name,
        stats,
        close: async () => await held.close(),
      };
    } catch (error) {
      await handle?.close().catch(() => {});
      throw systemError(error, path, access);
    }
  }

  #locate(path: string, access: Access): string {
    if (path.includes("\0")) throw this.#outside(path, access);
    if (path === "")
      throw new FileError("invalid_params", {
        text: "The path is empty.",
        advice: "Use '.' for the workspace.",
      });
    if (!isAbsolute(path)) return resolve(this.#cwd, path);
    const plain = resolve(path);
    return access === "read" && allows(this.#readable, plain) ? join(this.#root, plain) : plain;
  }

  /** Returns the allowed paths as named, with links. */
  #named(access: Access): string[] {
    const both = [this.#cwd, ...this.#writable];
    return access === "write" ? both : [...both, ...this.#readable.map((path) => join(this.#root, path))];
  }

  async #allowed(access: Access): Promise<string[]> {
    return await Promise.all(this.#named(access).map(async (path) => await realpath(path).catch(() => path)));
  }

  #outside(path: string, access: Access): FileError {
    const further = access === "read" ? [...this.#writable, ...this.#readable] : this.#writable;
    return outside(path, access, further);
  }
}

function allows(allowed: readonly string[], path: string): boolean {
  return allowed.some((one) => path === one || path.startsWith(one.endsWith(sep) ? one : `${one}${sep}`));
}

/** Follows every link, and returns where the path would be when a part of it does not exist. */
async function follow(path: string): Promise<Found> {
  try {
    return { real: await realpath(path), is: "there" };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
    return { real: await followMissing(path), is: "absent" };
  }
}

async function followMissing(path: string): Promise<string> {
  let real: string = sep;
  let links = 0;
  const parts = path.split(sep);
  for (let part = parts.shift(); part !== undefined; part = parts.shift()) {
    if (part === "" || part === ".") continue;
    const next = part === ".." ? dirname(real) : join(real, part);
    const target = await linkTarget(next);
    if (target === undefined) {
      real = next;
      continue;
    }
    links += 1;
    if (links > MAX_LINKS) throw Object.assign(new Error("too many links"), { code: "ELOOP" });
    if (isAbsolute(target)) real = sep;
    parts.unshift(...target.split(sep));
  }
  return real;
}

async function linkTarget(path: string): Promise<string | undefined> {
  try {
    return await readlink(path);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "EINVAL" || code === "ENOENT") return undefined;
    throw error;
  }
}

/** @throws when the place is unknown, so that nothing is opened */
async function placeOf(handle: FileHandle, name: string, stats: Stats): Promise<string> {
  if (!ON_LINUX) return await realpath(name);
  const place = await readlink(`/proc/self/fd/${handle.fd}`).catch((error: unknown) => {
    throw new FileError("unavailable", "No file can be opened safely here: /proc is not mounted.", {
      cause: error,
    });
  });
  // Linux marks a file that was replaced like this; the held one is the old file, which was valid.
  return stats.nlink === 0 ? place.replace(/ \(deleted\)$/, "") : place;
}
