/** A small disk for each agent's state, so that a test can fill it. Mounting it needs root. */
import { execFileSync } from "node:child_process";
import { closeSync, mkdirSync, openSync, rmSync, writeSync } from "node:fs";
import { join } from "node:path";

/** The ledger may grow to 4 MiB, and its rewritten copy stands beside it. */
const SIZE = "12m";
const FILL_BYTES = 64 * 1024;

export type Disk = {
  readonly dir: string;
  /** Fills the disk to the last byte. @returns the number of bytes written */
  fill(): number;
  free(): void;
  unmount(): void;
};

/** @returns undefined when this user may not mount */
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
        // The pieces get smaller until not even one byte fits.
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
      // A lazy unmount, because an agent that is being killed may still hold a file.
      execFileSync("umount", ["-l", dir], { stdio: "ignore" });
    },
  };
}
