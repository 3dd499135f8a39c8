/** docs/decisions/ keeps its form: a decision that cannot be found or dated is lost, and one that names files becomes untrue. */
import { globSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const FOLDER = fileURLToPath(new URL("../docs/decisions/", import.meta.url));
const read = (name: string) => readFileSync(join(FOLDER, name), "utf8");
const names = globSync("*.md", { cwd: FOLDER })
  .map((path) => basename(path))
  .filter((name) => name !== "README.md")
  .sort();

test("decisions are numbered without a gap, and none has a number twice", () => {
  expect(names.length).toBeGreaterThan(50);
  expect(names.map((name) => Number(name.slice(0, 4).replace("-", "")))).toEqual(names.map((_, i) => i + 1));
});

test.each(names)("%s has its number, date and four parts, and names no file of the code", (name) => {
  const text = read(name);
  expect(text).toMatch(new RegExp(`^# ${name.slice(0, 3)}\\. .+\n\n20\\d\\d-[01]\\d-[0-3]\\d( · .+)?\n`));
  const parts = [...text.matchAll(/^## (.+)$/gm)].map(([, part]) => part);
  expect(parts).toEqual(["Context", "Decision", "Measured", "Consequences"]);
  expect(text.match(/`[\w./-]+\.(ts|tsx|mjs|sh|cjs\/)[^`]*`/g)).toBe(null);
});

test("the index has a line for each decision, with its date and title", () => {
  const lines = names.map((name) => {
    const [, number, title, date, departs] =
      /^# (\d{3})\. (.+)\n\n(\S+)( · .*departs from the designs)?/.exec(read(name)) ?? [];
    return [`[${number}](${name})`, date, title, departs ? "yes" : ""];
  });
  const listed = [...read("README.md").matchAll(/^\| (\[.+)\|$/gm)].map(([, row = ""]) =>
    row.split("|").map((cell) => cell.trim()),
  );
  expect(listed).toEqual(lines);
});
