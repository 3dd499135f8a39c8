/** A disk of its own for each agent's state, small enough to be filled; it takes root to mount one. */
import { execFileSync } from "node:child_process";
import { closeSync, mkdirSync, openSync, rmSync, writeSync } from "node:fs";
import { join } from "node:path";

/** The ledger may grow to 4 MiB, and is written anew beside itself. */
const SIZE = "12m";
const FILL_BYTES = 64 * 1024;

export type Disk = {
  readonly dir: string;
  /** Fills it to the last byte. @returns the bytes that went in */
  fill(): number;
  free(): void;
  unmount(): void;
};

/** @returns undefined where this user may not mount */
export function mountDisk(dir: string): Disk | undefined {
  mkdirSync(dir, { recursive: true });
  try {
    execFileSync("mount", ["-t", "tmpfs", "-o", `size=${SIZE}`, "tmpfs", dir], { stdio: "ignore" });
  } catch {
    return undefined;
  }
  const filler = join(dir, "filler");
  return {
    dir,
    fill() {
      const file = openSync(filler, "w");
      let written = 0;
      try {
        // Ever smaller pieces, until not one byte has room.
        for (let piece = FILL_BYTES; piece >= 1; piece = Math.floor(piece / 2)) {
          try {
            for (;;) written += writeSync(file, Buffer.alloc(piece));
          } catch (error) {
            if ((error as NodeJS.ErrnoException).code !== "ENOSPC") throw error;
          }
        }
      } finally {
        closeSync(file);
      }
      return written;
    },
    free: () => rmSync(filler, { force: true }),
    unmount() {
      // Lazily: an agent that is being killed may still hold a file.
      execFileSync("umount", ["-l", dir], { stdio: "ignore" });
    },
  };
}
