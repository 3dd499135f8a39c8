/** Makes the state folder if it is missing. */
import { accessSync, constants, existsSync, mkdirSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { unwritableBy } from "@edgecall/node/writable.ts";

/**
 * Makes one folder at a time, because Node's `recursive` loops for ever on a file system that reports ENOENT below an
 * existing folder, as /proc does.
 * @param dir absolute
 * @throws an error that names EDGECALL_DIR
 */
export function makeStateFolder(dir: string): void {
  try {
    makeBelow(dir);
    accessSync(dir, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch (error) {
    if (isFolder(dir)) throw stateError(dir, error);
    const why = error instanceof Error ? error.message : String(error);
    throw new Error(
      `EDGECALL_DIR: the folder ${dir} cannot be made (${why}); choose one that you may write to`,
    );
  }
}

/** The error of a file in the state folder, in words. @param path the file, or the folder */
export function stateError(path: string, error: unknown): Error {
  const { kind, error: code } = unwritableBy(path, error);
  if (kind === "full")
    return new Error(`the disk of ${path} is full (${code}): df -h shows it; delete what is not needed`);
  if (kind === "read_only")
    return new Error(`the disk of ${path} is read-only (${code}): choose another folder with EDGECALL_DIR`);
  const owner = ownerOf(path) ?? ownerOf(dirname(path));
  const self = process.getuid?.();
  if ((code !== "EACCES" && code !== "EPERM") || owner === undefined || owner === self)
    return new Error(`${path}: ${error instanceof Error ? error.message : String(error)}`);
  return new Error(
    `${path} belongs to ${owner === 0 ? "root" : `user ${owner}`}, and this program runs as user ${self} (${code}): sudo chown -R "$(id -u)" ${path}, or set EDGECALL_DIR to a folder of your own`,
  );
}

function ownerOf(path: string): number | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false })?.uid;
  } catch {
    return undefined;
  }
}

function isFolder(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
  } catch {
    return false;
  }
}

function makeBelow(dir: string): void {
  if (existsSync(dir)) {
    if (!statSync(dir).isDirectory()) throw new Error(`${dir} is a file`);
    return;
  }
  makeBelow(dirname(dir));
  mkdirSync(dir, { mode: 0o700 });
}
