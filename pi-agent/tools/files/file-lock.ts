import type { Environment } from "../../env/environment.ts";

/**
 * Returns the lock of all tools that change files: one at a time in an environment.
 *
 * Locks by path would not protect a file with two names (a link, a hard link, another case), and a patch would need several.
 * One lock is enough, since a change takes milliseconds.
 */
export function writeLock({ name }: Pick<Environment, "name">): string {
  return `files of ${name}`;
}
