/** The table of what the designs ask for (test/kept/seed-rows.ts) is true of the repository: its tests and places exist. */
import { existsSync, globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { type Departure, SEED_ROWS, type Shown } from "./kept/seed-rows.ts";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const read = (path: string) => readFileSync(join(ROOT, path), "utf8");
const literally = (text: string) => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");

type Row = { seed: string; row: string; shown: readonly Shown[]; departure: Departure | undefined };

const rows = Object.entries(SEED_ROWS).flatMap(([seed, table]) =>
  Object.entries(table).map(([row, value]): Row => {
    if (typeof value === "string") return { seed, row, shown: [value], departure: undefined };
    return "where" in value
      ? { seed, row, shown: [], departure: value }
      : { seed, row, shown: value, departure: undefined };
  }),
);

const SKIPPED =
  /\b(?:test|it|describe|suite)\.(?:skip|skipIf|runIf|todo|only|fails)\b|\bx(?:it|test|describe)\(/;

const sources = new Map<string, string>();
function source(path: string): string | undefined {
  if (!existsSync(join(ROOT, path))) return undefined;
  // A part of a name that comes from a template is `%s` in the table, as in `test.each`.
  const text = sources.get(path) ?? read(path).replace(/\$\{[^}]*\}/g, "%s");
  sources.set(path, text);
  return text;
}

/** @returns what is wrong with `path > name`; undefined: the file has a test of that name, or a case, and leaves out none */
function problem(shown: Shown): string | undefined {
  const [, path = "", name = ""] = /^(\S+) > (.+)$/s.exec(shown) ?? [];
  const text = source(path);
  if (text === undefined) return "there is no such file";
  if (path.endsWith(".json")) {
    const cases = JSON.parse(text) as Array<{ id: string }>;
    return cases.some(({ id }) => id === name) ? undefined : "there is no such case";
  }
  if (!path.endsWith(".test.ts")) return "this is no file of tests";
  if (SKIPPED.test(text)) return "the file leaves tests out";
  const it = literally(name);
  // `test("NAME",`, `])("NAME",`, and a row of a table: `["NAME",`, `"NAME": async`, `NAME: {`.
  const named = new RegExp(`[([]\\s*(["'\`])${it}\\1\\s*,|^\\s*(["']?)${it}\\2: (?:\\{|async|\\()`, "m");
  return named.test(text) ? undefined : "the file has no such test";
}

/** The titles of the decisions that depart from the designs. */
const departures = globSync("docs/decisions/*.md", { cwd: ROOT }).flatMap(
  (path) => /^# \d{3}\. (.+)\n\n[^\n]*departs from the designs/.exec(read(path))?.[1] ?? [],
);

test("each row of the designs has tests that show it, or the place of its departure", () => {
  const wrong = rows.flatMap(({ seed, row, shown, departure }) => {
    const all: string[] = shown.flatMap((one) => {
      const why = problem(one);
      return why === undefined ? [] : [`${one}: ${why}`];
    });
    if (departure && !departures.includes(departure.where))
      all.push(`docs/decisions has no departure '${departure.where}'`);
    if (!departure && shown.length === 0) all.push("nothing shows it");
    return all.map((words) => `${seed} ${row}: ${words}`);
  });
  expect(wrong).toEqual([]);
});

test("the table has all five designs", () => {
  const counts = Object.fromEntries(
    Object.keys(SEED_ROWS).map((seed) => {
      const its = rows.filter((row) => row.seed === seed);
      return [seed, { rows: its.length, departures: its.filter(({ departure }) => departure).length }];
    }),
  );
  const departed = rows.filter(({ departure }) => departure).length;
  const tests = new Set(rows.flatMap(({ shown }) => shown)).size;
  console.log(
    `${rows.length} rows: ${rows.length - departed} shown by ${tests} tests, ${departed} departures. ${JSON.stringify(counts)}`,
  );
  expect(Object.keys(counts)).toEqual(["000", "001", "002", "003", "004"]);
  expect(rows.length).toBeGreaterThanOrEqual(385);
});
