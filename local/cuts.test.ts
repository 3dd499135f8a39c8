/** Words that people read are cut by core/text/cut.ts: a cut at a fixed length leaves half an emoji. */
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
/** Names that stand for words of or for a person. Ids, hashes and lists have others. */
const WORDS = "message|error|errorText|reason|why|title|label|body|stderr|said|answer|advice|notice";
const FIXED_CUT = new RegExp(
  `\\b(?:${WORDS})\\b\\)?(?:\\.(?:trim|text)\\(\\))?\\??\\s*\\.slice\\(\\s*0,\\s*(?:[A-Z][A-Z0-9_]+|\\d)[^)]*\\)`,
  "g",
);

const cutsIn = (text: string) => [...text.matchAll(FIXED_CUT)].map(([cut]) => cut);

test("C9: a cut of words at a fixed length is found; one at a place that was looked for is none", () => {
  expect(
    cutsIn("a(error.slice(0, 300)); b(read.error\n  .slice(0, MAX - 1)); String(message).slice(0, 200)"),
  ).toEqual(["error.slice(0, 300)", "error\n  .slice(0, MAX - 1)", "message).slice(0, 200)"]);
  expect(cutsIn("text.slice(0, at); error.slice(0, graphemeCut(error, 9)); id.slice(0, 32)")).toEqual([]);
});

test("C9: no program cuts words of a person at a fixed length", () => {
  const sources = globSync(
    "{core,discovery,worker,bridge,pi-agent,cli,client,node,local,tool-browser,tool-mcp}/**/*.{ts,tsx}",
    { cwd: ROOT, exclude: ["**/node_modules/**", "**/*.test.ts", "**/dist/**"] },
  );
  expect(sources.length).toBeGreaterThan(500);
  const found = sources.flatMap((path) =>
    cutsIn(readFileSync(join(ROOT, path), "utf8")).map((cut) => `${path}: ${cut}`),
  );
  expect(found).toEqual([]);
});
