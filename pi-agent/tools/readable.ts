/** Which files may be read: those of the workspace and a few that tell what system this is. */
import { constants } from "node:fs";
import { type FileHandle, lstat, open, readlink, realpath } from "node:fs/promises";
import { isAbsolute, join, resolve, sep } from "node:path";
import { faultResult, type ToolResult } from "@edgecall/core/tools/contract.ts";

/** Files outside the workspace, below root. */
export const READABLE_FILES = ["/etc/hostname", "/etc/os-release"] as const;

export type Opened = { ok: true; file: FileHandle; size: number } | { ok: false; fault: ToolResult };

/**
 * Opens a regular file that may be read. The check is made on the path without links, and once more on the
 * open file, so that a link that is changed in between leads nowhere.
 */
export async function openReadable(
  place: { root: string; workspace: string },
  path: string,
): Promise<Opened> {
  const wanted = locate(place, path);
  const allowed = await allowedPaths(place);
  if (wanted === undefined || !(await isNamedAllowed(place, wanted)))
    return { ok: false, fault: denied(path) };
  let file: FileHandle | undefined;
  try {
    const real = await realpath(wanted);
    if (!allows(allowed, real)) return { ok: false, fault: denied(path) };
    const { fault } = kindFault(await lstat(real), path);
    if (fault) return { ok: false, fault };
    // Without O_NONBLOCK, opening a FIFO that took the file's place would wait for a writer for ever.
    file = await open(real, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    const stats = await file.stat();
    const swapped = kindFault(stats, path).fault ?? (await movedFault(file, allowed, path));
    if (swapped) {
      await file.close();
      return { ok: false, fault: swapped };
    }
    return { ok: true, file, size: stats.size };
  } catch (error) {
    await file?.close().catch(() => {});
    return { ok: false, fault: openFault(error, path) };
  }
}

type Allowed = { folder: string; files: readonly string[] };

function locate({ root, workspace }: { root: string; workspace: string }, path: string): string | undefined {
  if (path.includes("\0")) return undefined;
  if (!isAbsolute(path)) return resolve(workspace, path);
  const plain = resolve(path);
  return (READABLE_FILES as readonly string[]).includes(plain) ? join(root, plain) : plain;
}

/** Before any link is followed, so that whether a file elsewhere exists is not told either. */
async function isNamedAllowed(place: { root: string; workspace: string }, path: string): Promise<boolean> {
  const named = {
    folder: resolve(place.workspace),
    files: READABLE_FILES.map((file) => join(place.root, file)),
  };
  return allows(named, path) || allows(await allowedPaths(place), path);
}

async function allowedPaths({ root, workspace }: { root: string; workspace: string }): Promise<Allowed> {
  const real = async (path: string) => await realpath(path).catch(() => path);
  return {
    folder: await real(workspace),
    files: await Promise.all(READABLE_FILES.map((file) => real(join(root, file)))),
  };
}

function allows({ folder, files }: Allowed, path: string): boolean {
  return path === folder || path.startsWith(`${folder}${sep}`) || files.includes(path);
}

async function movedFault(file: FileHandle, allowed: Allowed, path: string): Promise<ToolResult | undefined> {
  const real = await readlink(`/proc/self/fd/${file.fd}`).catch(() => undefined);
  return real === undefined || allows(allowed, real) ? undefined : denied(path);
}

function kindFault(
  stats: { isDirectory(): boolean; isFile(): boolean },
  path: string,
): { fault: ToolResult | undefined } {
  if (stats.isFile()) return { fault: undefined };
  if (stats.isDirectory()) {
    return { fault: faultResult("is_directory", `Error: '${path}' is a folder, not a file.`) };
  }
  return { fault: faultResult("access_denied", `Error: '${path}' is a device, pipe or socket, not a file.`) };
}

function denied(path: string): ToolResult {
  return faultResult(
    "access_denied",
    `Error: Permission denied: '${path}' is outside what this agent may read (its workspace, ${READABLE_FILES.join(" and ")}).\nExplain to the user.`,
  );
}

function openFault(error: unknown, path: string): ToolResult {
  switch ((error as NodeJS.ErrnoException).code) {
    case "ENOENT":
      return faultResult("not_found", `Error: There is no file '${path}'.`, { cause: error });
    case "ENOTDIR":
      return faultResult(
        "not_found",
        `Error: There is no file '${path}': a part of the path is not a folder.`,
        {
          cause: error,
        },
      );
    case "EACCES":
    case "EPERM":
      return faultResult(
        "access_denied",
        `Error: Permission denied: the system does not let this agent read '${path}'.`,
        {
          cause: error,
        },
      );
    default:
      return faultResult(
        "io",
        `Error: '${path}' cannot be read (${(error as NodeJS.ErrnoException).code}).`,
        {
          cause: error,
        },
      );
  }
}
