/** The state's folder, made where it is missing. */
import { existsSync, mkdirSync, statSync } from "node:fs";
import { dirname } from "node:path";

/**
 * One folder after the other: Node's own `recursive` never ends where a file system says ENOENT below a folder that is
 * there, as /proc does.
 *
 * @param dir absolute
 * @throws in words that name EDGECALL_DIR
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
