import { mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { addRow, pageOf, type ResultRow, readRow, rowsIn } from "./rows.ts";

const ROW: ResultRow = {
  day: "2026-11-28",
  version: "0.4.0",
  model: "qwen3:8b",
  endpoint: "Ollama",
  window: 16_384,
  good: false,
  bad: ["one reading: it answered without asking the device"],
  flows: [
    { what: "one reading", result: "it answered without asking the device" },
    { what: "two readings", result: "ok" },
  ],
  tokens: 12_345,
  seconds: 61,
};
const folder = () => mkdtempSync(join(tmpdir(), "rows-"));

test("the page that stands in docs is made of its rows, and each row is one of a run", () => {
  const measured = fileURLToPath(new URL("../../docs/measured", import.meta.url));
  const rows = rowsIn(measured);
  expect(rows.length).toBeGreaterThan(0);
  expect(readFileSync(join(measured, "models.md"), "utf8")).toBe(pageOf(rows));
});

test("a row is added with its page; a later run of the same model replaces it, another endpoint's does not", () => {
  const at = folder();
  addRow(at, ROW);
  addRow(at, { ...ROW, endpoint: "LM Studio" });
  addRow(at, { ...ROW, good: true, bad: [], seconds: 9 });
  expect(rowsIn(at).map(({ endpoint, seconds }) => `${endpoint} ${seconds}`)).toEqual([
    "LM Studio 61",
    "Ollama 9",
  ]);
  const page = readFileSync(join(at, "models.md"), "utf8");
  expect(page).toMatch(/\| qwen3:8b +\| LM Studio +\| no +\| 1 of 2 +\| 16,384 +\| 12,345 +\| 61 s/);
  expect(page).toContain("- one reading: it answered without asking the device");
});

test("the tests' endpoint is labelled as no model", () =>
  expect(pageOf([{ ...ROW, model: "scripted", endpoint: "scripted" }])).toContain(
    "the tests' scripted endpoint: no model",
  ));

test.each([
  ["day", { day: "today" }],
  ["model", { model: "a | b" }],
  ["model", { model: "a\n# b" }],
  ["window", { window: -1 }],
  ["flows", { flows: [] }],
  ["by", { by: "me" }],
])("a row that was sent in is checked: %s", (field, change) => {
  const read = readRow(JSON.stringify({ ...ROW, ...change }));
  expect(read.ok ? "" : read.error).toContain(field);
});

test("a row that was sent in as it is printed is taken", () =>
  expect(readRow(JSON.stringify(ROW))).toEqual({ ok: true, value: ROW }));
