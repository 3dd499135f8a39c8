/**
 * Reads a file in a service's folder, which may be compromised. Even for root no link is followed, nothing is waited for, and
 * the size is bounded.
 */
import { closeSync, constants, fstatSync, openSync, readSync } from "node:fs";

/**
 * @param atMost bytes
 * @returns its text, or the beginning of it
 * @throws the system's error, or an error when it is no plain file
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
