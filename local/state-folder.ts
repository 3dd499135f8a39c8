/** Makes the state folder if it is missing. */
import { existsSync, mkdirSync, statSync } from "node:fs";
import { dirname } from "node:path";

/**
 * Makes one folder at a time, because Node's `recursive` loops for ever on a file system that reports ENOENT below an
 * existing folder, as /proc does.
 *
 * @param dir absolute
 * @throws an error that names EDGECALL_DIR
 */
export function makeStateFolder(dir: string): void {
  try {
    makeBelow(dir);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new Error(
      `EDGECALL_DIR: the folder ${dir} cannot be made (${why}); choose one that you may write to`,
    );
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
