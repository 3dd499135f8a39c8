/**
 * A file in a folder of a service's, which may be anybody's by now: for root, too, no link is followed, nothing is waited
 * for, and no more is read than it may have.
 */
import { closeSync, constants, fstatSync, openSync, readSync } from "node:fs";

/**
 * @param atMost bytes
 * @returns its text, or the beginning of that
 * @throws what the system says, and where it is no plain file
 */
export function beginningOf(path: string, atMost: number): string {
  const file = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    if (!fstatSync(file).isFile()) throw new Error(`${path} is no plain file`);
    const bytes = Buffer.alloc(atMost);
    return bytes.toString("utf8", 0, readSync(file, bytes, 0, atMost, 0));
  } finally {
    closeSync(file);
  }
}
