import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { table, withRegions, wordsByHand } from "./regions.ts";

const PAGE = "# A page\n\nBy hand.\n\n<!-- made: a -->\nold\n<!-- end -->\n\nMore.\n";

test("a region is replaced, and what a person wrote stays", () => {
  const made = withRegions(PAGE, { a: "new | words\n" });
  expect(made).toBe(PAGE.replace("old", "\nnew | words\n"));
  expect(withRegions(made, { a: "new | words" })).toBe(made);
  expect(wordsByHand(made)).toBe(5);
});

test.each([
  [{}, "no text is made for the region a"],
  [{ a: "x", b: "y" }, "the page has no region b"],
])("regions and texts belong together: %j", (texts, error) => {
  expect(() => withRegions(PAGE, texts)).toThrow(error);
});

test("a cell is one line, in which | does not end it", () => {
  expect(table(["a"], [["x |\n y"]])).toBe("| a |\n| --- |\n| x \\| y |");
});

test.each([
  ["settings", 700],
  ["agent-toml", 160],
  ["protocol", 2_600],
])("docs/reference/%s.md has at most %i words by hand, without tables", (name, most) => {
  const page = readFileSync(new URL(`../../../docs/reference/${name}.md`, import.meta.url), "utf8");
  expect(wordsByHand(page)).toBeLessThanOrEqual(most);
});
