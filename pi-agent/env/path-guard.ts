/**
 * Keeps file operations in the workspace, and lets a few further paths be read.
 *
 * The rule: a path is judged where it leads to, links and all, and what was judged is what is used. Node has no
 * openat2 with RESOLVE_BENEATH. So: the path is resolved and judged; then it is opened (O_PATH: opening does
 * nothing yet, to a FIFO or device either; O_NOFOLLOW), and where the open file really is, is judged again. All
 * further work goes through `/proc/self/fd/N`, which leads to that very file whatever becomes of its name.
 *
 * macOS has neither O_PATH nor /proc: there the second look is at the name, and a process that swaps links in
 * the workspace at the right microsecond wins. A hard link to a file outside looks like a file inside,
 * everywhere; Linux lets only the owner of a file make one (fs.protected_hardlinks).
 */
import { constants, type Stats } from "node:fs";
import { type FileHandle, lstat, open, readlink, realpath } from "node:fs/promises";
import { dirname, isAbsolute, join, resolve, sep } from "node:path";
import type { Target } from "@edgecall/core/tools/contract.ts";
import { FileError } from "./environment.ts";
import { type Access, changedMeanwhile, gitFolder, notFolder, outside, systemError } from "./file-errors.ts";
import { isInGitFolder } from "./git-folder.ts";

/** Files outside the workspace that tell what system this is. */
export const READABLE_FILES = ["/etc/hostname", "/etc/os-release"] as const;

export type GuardedPlace = {
  /** The workspace, absolute. */
  cwd: string;
  /** Further files and folders that may be read; READABLE_FILES when absent. */
  readable?: readonly string[];
  /** Further folders that may be read and written. */
  writable?: readonly string[];
  /** Kept free on the disk, in bytes: nothing is written below that. */
  minFreeBytes?: number;
  /** `readable` is found below it: for tests. */
  root?: string;
};

/**
 * Where a path leads to, without links, as far as it is there. `link`: the path names a link that leads to
 * nothing, and these are its own figures.
 */
export type Found = { real: string; is: "there" | "absent"; link?: Stats };

/** Something that was opened and judged. `path` leads to it and to nothing else. */
export type Held = { path: string; stats: Stats; close(): Promise<void> };

const ON_LINUX = process.platform === "linux";
/** Not among Node's constants; the same on every architecture that Linux runs on with Node. */
const O_PATH = 0o10000000;
const HOLD = constants.O_NOFOLLOW | (ON_LINUX ? O_PATH : constants.O_RDONLY | constants.O_NONBLOCK);
/** As Linux has it (MAXSYMLINKS). */
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

  /** Where the path leads to. @throws FileError when that is not allowed */
  async find(path: string, access: Access): Promise<Found> {
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

  /** The folder of a path and its name in it, whose last part is not followed when it is a link. */
  async findEntry(path: string, access: Access): Promise<{ folder: string; name: string }> {
    const named = this.#locate(path, access);
    const folder = await this.find(dirname(named), access);
    return { folder: folder.real, name: named.slice(named.lastIndexOf(sep) + 1) };
  }

  /** The target of a write. */
  async target(path: string): Promise<Target> {
    const { real } = await this.find(path, "write");
    const named = this.#locate(path, "write");
    // The workspace itself may be named by a link: that is nobody's surprise.
    const plain = await Promise.all(
      this.#named("write").map(async (top) =>
        allows([top], named) ? join(await realpath(top).catch(() => top), named.slice(top.length)) : named,
      ),
    );
    return { path, real, link: !plain.includes(real), git: await this.#isGit(real) };
  }

  /** @throws FileError `blocked` for a place of git's, unless the call was judged with that known */
  async refuseGit(real: string, path: string, judged: Target | undefined): Promise<void> {
    if (judged?.git !== true && (await this.#isGit(real))) throw gitFolder(path);
  }

  async #isGit(real: string): Promise<boolean> {
    const tops = await this.#allowed("write");
    const top = tops.find((one) => allows([one], real));
    return top !== undefined && (await isInGitFolder(top, real));
  }

  /** Opens what `find` found, and judges it again. @param path as asked for, for the words */
  async hold(real: string, path: string, access: Access): Promise<Held> {
    return await this.#hold(real, path, access, real);
  }

  /** Opens what is in a held folder by its name. */
  async holdEntry(folder: Held, name: string, path: string, access: Access): Promise<Held> {
    return await this.#hold(join(folder.path, name), path, access);
  }

  /** @param expected where a write has to find it: a folder on the way may have become a link since */
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

  /** As they are named, before any link is followed. */
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

/** Follows every link, and says where the path would be when a part of it is not there (yet). */
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

/** @throws when it cannot be told: then nothing is opened */
async function placeOf(handle: FileHandle, name: string, stats: Stats): Promise<string> {
  if (!ON_LINUX) return await realpath(name);
  const place = await readlink(`/proc/self/fd/${handle.fd}`).catch((error: unknown) => {
    throw new FileError("unavailable", "No file can be opened safely here: /proc is not mounted.", {
      cause: error,
    });
  });
  // So Linux marks a file that was replaced meanwhile; what is held is the old one, which was there.
  return stats.nlink === 0 ? place.replace(/ \(deleted\)$/, "") : place;
}
