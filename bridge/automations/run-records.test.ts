import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { AutomationRun } from "@edgecall/core/protocol/automation.ts";
import { expect, test } from "vitest";
import { RunRecords } from "./run-records.ts";

const path = () => join(mkdtempSync(join(tmpdir(), "runs-")), "runs.json");
const log = () => {};
const AT = Date.parse("2026-11-29T12:00Z");

function runOf(rule: string, firing: number): AutomationRun {
  return { rule, version: 1, firing, state: "done", at: AT, ended: AT, because: [], steps: [] };
}

test("the last 20 runs of a rule are there after a restart", async () => {
  const file = path();
  const records = await RunRecords.open(file, log);
  for (let firing = 1; firing <= 25; firing += 1) records.set(runOf("a-0001", firing));
  await records.stop();
  const firings = (await RunRecords.open(file, log)).of("a-0001").map(({ firing }) => firing);
  expect(firings).toEqual(Array.from({ length: 20 }, (_, nth) => nth + 6));
});

test("a run that is undone after a later one stays in its place", async () => {
  const records = await RunRecords.open(path(), log);
  for (const firing of [1, 2]) records.set(runOf("a-0001", firing));
  records.set({ ...runOf("a-0001", 1), state: "undone" });
  expect(records.of("a-0001").map(({ firing, state }) => [firing, state])).toEqual([
    [1, "undone"],
    [2, "done"],
  ]);
  await records.stop();
});

test("runs of rules that are gone do not stay", async () => {
  const file = path();
  const records = await RunRecords.open(file, log);
  for (const rule of ["a-0001", "a-0002"]) records.set(runOf(rule, 1));
  records.keepOnly(new Set(["a-0002"]));
  await records.stop();
  const again = await RunRecords.open(file, log);
  expect([again.of("a-0001"), again.of("a-0002")].map(({ length }) => length)).toEqual([0, 1]);
});
