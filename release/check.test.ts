import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ROOT } from "@edgecall/node/places.ts";
import { expect, test } from "vitest";
import { findFaults, linesThatFetch, readOwner } from "./check.ts";

test("until its owner has published the name, no page fetches it from npm", () => {
  if (readOwner() === null) expect(linesThatFetch(ROOT)).toEqual([]);
});

test("a page that would fetch it is found, and one that runs what is installed is not", () => {
  const root = mkdtempSync(join(tmpdir(), "edgecall-pages-"));
  mkdirSync(join(root, "docs"));
  writeFileSync(join(root, "README.md"), "Run it:\n\n    npx edgecall start\n    npx --no edgecall start\n");
  writeFileSync(
    join(root, "docs/a.md"),
    "`npm install --global edgecall`, `npm install ./edgecall-1.2.3.tgz`\n",
  );
  expect(linesThatFetch(root)).toEqual(["README.md:3", "docs/a.md:1"]);
});

test.each<[string, string | null, string[] | undefined, string[], string[]]>([
  ["nothing is published", null, undefined, [], []],
  ["a page is too early", null, undefined, ["README.md:3"], ["README.md:3: fetches 'edgecall' from npm"]],
  ["a stranger has the name", null, ["mallory"], [], ["npm has 'edgecall' by mallory: if that is the owner"]],
  ["the owner has it", "anna", ["anna", "bob"], ["README.md:3"], []],
  ["it went to a stranger", "anna", ["mallory"], [], ["npm's 'edgecall' is by mallory, not by anna"]],
  ["it is gone", "anna", undefined, [], ["release/owner.json names anna, and npm has no 'edgecall'"]],
])("%s", (_name, owner, maintainers, lines, faults) => {
  expect(findFaults(owner, maintainers, lines)).toEqual(
    faults.map((words) => expect.stringContaining(words)),
  );
});
