/** Simulates what a power cut does to files: the end of what was not synced is missing, zeroed, or has a hole. */
import {
  closeSync,
  ftruncateSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import { checkJson, z } from "@edgecall/core/protocol/parse.ts";
import type { Dice } from "../chaos/dice.ts";

const Synced = z.object({ ino: z.number(), size: z.number() });

export type Cut = { file: string; what: "truncated" | "zeroed" | "hole" | "gone"; from: number; to: number };

/**
 * Cuts the power for every file below a folder whose process has just been killed.
 * @param report the file that synced.ts wrote
 */
export function cutPower(folder: string, report: string, dice: Dice): Cut[] {
  const safe = safeSizes(report);
  return filesBelow(folder).flatMap((file) => {
    const { ino, size } = statSync(file);
    const from = safe.get(ino);
    // Only a file that was never synced may be missing; a sync also makes its folder entry safe.
    if (from === undefined && dice.chance(0.2)) {
      rmSync(file);
      return [{ file, what: "gone" as const, from: 0, to: size }];
    }
    return size > (from ?? 0) ? [damage(file, from ?? 0, size, dice)] : [];
  });
}

function damage(file: string, from: number, size: number, dice: Dice): Cut {
  const handle = openSync(file, "r+");
  try {
    const start = dice.whole(from, size - 1);
    const what = dice.pick(["truncated", "zeroed", "hole"] as const);
    if (what === "truncated") ftruncateSync(handle, start);
    const to = what === "hole" ? dice.whole(start + 1, size) : size;
    if (what !== "truncated") writeSync(handle, Buffer.alloc(to - start), 0, to - start, start);
    return { file, what, from: start, to };
  } finally {
    closeSync(handle);
  }
}

/** Returns how many bytes of each file, by inode, have been synced. */
function safeSizes(report: string): Map<number, number> {
  const sizes = new Map<number, number>();
  for (const line of readFileSync(report, "utf8").split("\n")) {
    const synced = checkJson(Synced, line);
    if (synced.ok) sizes.set(synced.value.ino, synced.value.size);
  }
  return sizes;
}

function filesBelow(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
}
