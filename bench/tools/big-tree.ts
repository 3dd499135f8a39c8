/**
 * A folder of 100 MB that is the same in every run: sources, notes and logs as in a workspace, many small files and a
 * few large ones, in folders three levels deep.
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

export type TreeSize = { smallFiles: number; largeBytes: number; editedBytes: number };
/** The largest file that `edit` accepts is 1 MiB. */
const HUNDRED_MB: TreeSize = { smallFiles: 7_300, largeBytes: 10_000_000, editedBytes: 1_000_000 };
const SMALL = { minBytes: 200, maxBytes: 16_000 };
const LARGE_FILES = 4;
const ENDINGS = ["ts", "md", "log", "json", "txt", "py"];
/** Occurs in one line of one small file. */
export const NEEDLE = "the-needle-of-the-tree";
/** Occurs in many lines of nearly all files. */
export const COMMON = "value";
const WORDS =
  "const return import export value index result error path length string number async await function buffer stream request timeout device sensor temperature humidity status online offline report call agent home turn step bridge broker ledger clock disk memory";

export type BigTree = { bytes: number; files: number; small: string; large: string; edited: string };

/** @param root the folder to make. @returns its contents, with paths below it */
export function makeBigTree(root: string, seed = 4, size: TreeSize = HUNDRED_MB): BigTree {
  const random = randomOf(seed);
  const words = WORDS.split(" ");
  const line = (): string => {
    const indent = "  ".repeat(random(4));
    return `${indent}${Array.from({ length: 3 + random(9) }, () => words[random(words.length)]).join(" ")}\n`;
  };
  const text = (bytes: number): string => {
    let made = "";
    while (made.length < bytes) made += line();
    return made;
  };
  let bytes = 0;
  let files = 0;
  const put = (path: string, content: string): string => {
    mkdirSync(join(root, path, ".."), { recursive: true });
    writeFileSync(join(root, path), content);
    bytes += content.length;
    files += 1;
    return path;
  };
  let small = "";
  for (let file = 0; file < size.smallFiles; file += 1) {
    const folder = `part-${random(12)}/module-${random(20)}/unit-${random(8)}`;
    const ending = ENDINGS[random(ENDINGS.length)] ?? "txt";
    const content = text(SMALL.minBytes + random(SMALL.maxBytes - SMALL.minBytes));
    const hasNeedle = file === Math.floor(size.smallFiles / 2);
    const path = put(`${folder}/file-${file}.${ending}`, hasNeedle ? `${content}${NEEDLE}\n` : content);
    if (hasNeedle) small = path;
  }
  let large = "";
  for (let file = 0; file < LARGE_FILES; file += 1)
    large = put(`logs/large-${file}.log`, manyLines(text(100_000), size.largeBytes));
  const edited = put("edited.ts", `${manyLines(text(50_000), size.editedBytes)}once\n`);
  return { bytes, files, small, large, edited };
}

/** Numbered, so that no two lines are equal. */
function manyLines(block: string, bytes: number): string {
  const lines = block.split("\n").filter(Boolean);
  let made = "";
  for (let number = 0; made.length < bytes; number += 1)
    made += `${number} ${lines[number % lines.length]}\n`;
  return made;
}

/** mulberry32: returns whole numbers from 0 to below `below`, the same ones for the same seed. */
function randomOf(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * below);
  };
}
