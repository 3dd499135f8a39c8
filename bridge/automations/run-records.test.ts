import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { initialAutomation, type Run } from "@edgecall/core/automations/state.ts";
import { ruleOf } from "@edgecall/core/automations/testkit/rules.ts";
import type { AllowedAutomation, AutomationRun } from "@edgecall/core/protocol/automation.ts";
import { expect, test } from "vitest";
import { RunRecords } from "./run-records.ts";

const path = () => join(mkdtempSync(join(tmpdir(), "runs-")), "runs.json");
const log = () => {};
const AT = Date.parse("2026-11-29T12:00Z");

/** A rule, of which the machine has these runs. */
function heldOf(id: string, firings: { last?: number; changed?: number } = {}) {
  const allowed = { by: "anna", at: AT, until: AT + 1 };
  const rule: AllowedAutomation = { ...ruleOf({ id }), home: "h1", allowed };
  const machineRun = (firing: number): Run => ({
    ...{ firing, at: AT, because: [], led: [], moment: false, phase: "held", step: 1, out: false },
    ...{ recheck: false, tries: 0, steps: [], kept: [], before: {}, ends: [] },
  });
  const { last, changed } = firings;
  const state = {
    ...initialAutomation(rule, AT),
    ...(last !== undefined && { last: machineRun(last) }),
    ...(changed !== undefined && { changed: machineRun(changed) }),
  };
  return { rule, state };
}

function runOf(rule: string, firing: number): AutomationRun {
  return { rule, version: 1, firing, state: "done", at: AT, ended: AT, because: [], steps: [] };
}

test("the last 20 runs of a rule are there after a restart", async () => {
  const file = path();
  const records = await RunRecords.open(file, log);
  for (let firing = 1; firing <= 25; firing += 1) records.set(heldOf("a-0001"), runOf("a-0001", firing));
  await records.stop();
  const firings = (await RunRecords.open(file, log)).of("a-0001").map(({ firing }) => firing);
  expect(firings).toEqual(Array.from({ length: 20 }, (_, nth) => nth + 6));
});

test("a run that is undone after a later one stays in its place", async () => {
  const records = await RunRecords.open(path(), log);
  for (const firing of [1, 2]) records.set(heldOf("a-0001"), runOf("a-0001", firing));
  records.set(heldOf("a-0001"), { ...runOf("a-0001", 1), state: "undone" });
  expect(records.of("a-0001").map(({ firing, state }) => [firing, state])).toEqual([
    [1, "undone"],
    [2, "done"],
  ]);
  await records.stop();
});

test("the run that can still be undone stays among 20, and is shown beside the newest", async () => {
  const records = await RunRecords.open(path(), log);
  for (let firing = 1; firing <= 30; firing += 1)
    records.set(heldOf("a-0001", { last: firing, changed: 3 }), runOf("a-0001", firing));
  const held = heldOf("a-0001", { last: 30, changed: 3 });
  const firings = records.of("a-0001").map(({ firing }) => firing);
  expect(firings).toEqual([3, ...Array.from({ length: 19 }, (_, nth) => nth + 12)]);
  expect(records.newest(held, 1).map(({ firing }) => firing)).toEqual([3, 30]);
  expect(records.newest(held, 20).map(({ firing }) => firing)).toEqual(firings);
  // The undone run is the machine's last one from then on.
  records.set(heldOf("a-0001", { last: 3 }), { ...runOf("a-0001", 3), state: "undone" });
  expect(records.newest(heldOf("a-0001", { last: 3 }), 1).map(({ state }) => state)).toEqual([
    "undone",
    "done",
  ]);
  await records.stop();
});

test("a run comes into its place by version and firing", async () => {
  const records = await RunRecords.open(path(), log);
  const held = heldOf("a-0001");
  for (const firing of [1, 4]) records.set(held, runOf("a-0001", firing));
  records.set(held, { ...runOf("a-0001", 2), version: 2 });
  records.set(held, runOf("a-0001", 3));
  expect(records.of("a-0001").map(({ version, firing }) => [version, firing])).toEqual([
    [1, 1],
    [1, 3],
    [1, 4],
    [2, 2],
  ]);
  await records.stop();
});

test("runs of rules that are gone do not stay", async () => {
  const file = path();
  const records = await RunRecords.open(file, log);
  for (const rule of ["a-0001", "a-0002"]) records.set(heldOf(rule), runOf(rule, 1));
  records.keepOnly(new Set(["a-0002"]));
  await records.stop();
  const again = await RunRecords.open(file, log);
  expect([again.of("a-0001"), again.of("a-0002")].map(({ length }) => length)).toEqual([0, 1]);
});
