/**
 * The error texts of file operations, the same in every environment. They have no prefix `Error: `, which the tool adds
 * (tools/files/file-fault.ts).
 */
import { megabytes } from "./bounded-writes.ts";
import { FileError } from "./environment.ts";

export type Access = "read" | "write";

/** Returned before it is known whether the file exists, so that it reveals nothing about files outside. */
export function outside(path: string, access: Access, allowed: readonly string[]): FileError {
  const where = ["its workspace", ...allowed].join(", ");
  return new FileError("access_denied", {
    text: `Permission denied: '${printablePath(path)}' is outside what this agent may ${access} (${where}).`,
    advice: "Use a path in the workspace, or explain to the user.",
  });
}

export function absent(path: string, cause?: unknown): FileError {
  return new FileError("not_found", `There is no '${printablePath(path)}'.`, { cause });
}

export function behindFile(path: string, cause?: unknown): FileError {
  return new FileError(
    "not_found",
    `There is no '${printablePath(path)}': a part of the path is not a folder.`,
    {
      cause,
    },
  );
}

export function isFolder(path: string, cause?: unknown): FileError {
  return new FileError("is_directory", `'${printablePath(path)}' is a folder, not a file.`, { cause });
}

export function notFolder(path: string): FileError {
  return new FileError("not_directory", `'${printablePath(path)}' is a file, not a folder.`);
}

/** Opening a FIFO blocks, and reading a device can have effects. */
export function notRegular(path: string): FileError {
  return new FileError("access_denied", `'${printablePath(path)}' is a device, pipe or socket, not a file.`);
}

/** Between check and use, a link or another file took its place. */
export function changedMeanwhile(path: string): FileError {
  return new FileError(
    "access_denied",
    `Permission denied: '${printablePath(path)}' was changed while it was opened. Nothing was done; try again.`,
  );
}

/** A file tool may not create a program that git would run. */
export function gitFolder(path: string): FileError {
  return new FileError("blocked", {
    text: `Permission denied: '${printablePath(path)}' belongs to git, which runs what is written there; that takes the permission shell. Nothing was written.`,
    advice: "Use the git tools, or explain to the user.",
  });
}

/** The device itself needs room for its record, its log and updates. */
export function diskFull(path: string, free: number, reserve: number): FileError {
  return new FileError("io", {
    text: `'${printablePath(path)}' was not written: ${megabytes(free)} are free on its disk, and ${megabytes(reserve)} are kept free (min_free_mb in [tools]). Nothing was changed.`,
    advice: "Tell the user, or delete what is not needed.",
  });
}

/** Converts a system error (`error.code`) to an error text. */
export function systemError(error: unknown, path: string, access: Access): FileError {
  if (error instanceof FileError) return error;
  const code = (error as NodeJS.ErrnoException).code ?? "unknown";
  switch (code) {
    case "ENOENT":
      return absent(path, error);
    case "ENOTDIR":
      return behindFile(path, error);
    case "EISDIR":
      return isFolder(path, error);
    case "EACCES":
    case "EPERM":
    case "EROFS":
      return new FileError(
        "access_denied",
        `Permission denied: the system does not let this agent ${access} '${printablePath(path)}'.`,
        { cause: error },
      );
    case "ELOOP":
      return new FileError("access_denied", `'${printablePath(path)}' leads through too many links.`, {
        cause: error,
      });
    case "ENAMETOOLONG":
      return new FileError("invalid_params", `'${printablePath(path)}' is too long for a path.`, {
        cause: error,
      });
    case "ENOTEMPTY":
    case "EEXIST":
      return new FileError("exists", `The folder '${printablePath(path)}' is not empty.`, { cause: error });
    case "ENOSPC":
    case "EDQUOT":
      return new FileError("io", `No space left to write '${printablePath(path)}'. Nothing was changed.`, {
        cause: error,
      });
    default:
      return new FileError(
        "io",
        `'${printablePath(path)}' cannot be ${access === "read" ? "read" : "written"} (${code}).`,
        { cause: error },
      );
  }
}

/** Puts a path on one line, since it may contain anything, and a model may even send NUL. */
function printablePath(path: string): string {
  return path
    .slice(0, 300)
    .replaceAll(/\p{Cc}/gu, (char) => `\\x${char.charCodeAt(0).toString(16).padStart(2, "0")}`);
}
