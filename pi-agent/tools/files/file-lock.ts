import type { Environment } from "../../env/environment.ts";

/**
 * The lock of whatever changes files: one at a time in an environment.
 *
 * A lock by path would let two names of one file (a link, a hard link, another case) pass each other, and a
 * patch of several files would need several. Reading, changing and writing back takes milliseconds.
 */
export function writeLock({ name }: Pick<Environment, "name">): string {
  return `files of ${name}`;
}
