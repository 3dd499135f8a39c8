import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { makeBigTree } from "./big-tree.ts";
import { spreadOf } from "./pairs.ts";

test("the spread is the range of the middle half, divided by the median", () => {
  expect(spreadOf([1, 2, 3, 4, 100])).toBeCloseTo(2 / 3);
  expect(spreadOf([5])).toBe(0);
});

const SMALL_TREE = { smallFiles: 50, largeBytes: 20_000, editedBytes: 5_000 };

test("the same seed makes the same tree, and another seed another one", () => {
  const roots = [1, 1, 2].map((seed) => {
    const root = mkdtempSync(join(tmpdir(), "edgecall-big-tree-"));
    return { root, tree: makeBigTree(root, seed, SMALL_TREE) };
  });
  const all = roots.map(({ root }) =>
    readdirSync(root, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => readFileSync(join(entry.parentPath, entry.name), "utf8"))
      .sort()
      .join("\0"),
  );
  const [first, second, other] = roots;
  expect(first?.tree).toEqual(second?.tree);
  expect(all[0] === all[1]).toBe(true);
  expect(all[0] === all[2]).toBe(false);
  expect(first?.tree.small).not.toBe(other?.tree.small);
  for (const { root } of roots) rmSync(root, { recursive: true });
});
