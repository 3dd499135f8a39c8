import { expect, test } from "vitest";
import { chooseFaults, FAULT_NAMES, FAULTS } from "./fault-names.ts";
import { readOptions } from "./options.ts";
import { planTurn } from "./plan.ts";

const turns = (seed: number, count: number) =>
  Array.from({ length: count }, (_, k) => planTurn(seed, k, FAULT_NAMES));

test("a seed always gives the same turns, each independent of the others; another seed gives others", () => {
  const all = turns(7, 40);
  expect(turns(7, 40)).toEqual(all);
  expect(planTurn(7, 31, FAULT_NAMES)).toEqual(all[31]);
  expect(turns(8, 40)).not.toEqual(all);
});

test("a short run has at least 40 faults, at every process and every link", () => {
  const short = readOptions(["--short"])?.turns.length ?? 0;
  expect(short).toBeGreaterThanOrEqual(40);
  for (const seed of [1, 2, 3]) {
    const met = new Set(turns(seed, short).map(({ fault }) => fault.name));
    expect([...met].sort()).toEqual([...FAULT_NAMES].sort());
  }
});

test("each turn has its own key, one to three calls a step, and a fault within its time", () => {
  const all = turns(3, 200);
  expect(new Set(all.map(({ key }) => key)).size).toBe(200);
  for (const { script, fault } of all) {
    for (const calls of script.steps) expect([1, 2, 3]).toContain(calls.length);
    expect(fault.at).toBeLessThan(3_000);
    expect(fault.lasts).toBeGreaterThanOrEqual(200);
    expect(fault.lasts).toBeLessThanOrEqual(3_000);
  }
});

test("a turn whose messages are reordered has two messages to the same agent", () => {
  for (const { script, fault } of turns(4, 100)) {
    if (FAULTS[fault.name].kind !== "reorder") continue;
    const [first, second] = script.steps[0] ?? [];
    expect(first?.agent).toBe(second?.agent);
  }
});

test("faults are chosen by name or by kind; a name that matches nothing is reported", () => {
  expect(chooseFaults("cut:gateway,kill")).toEqual(
    expect.arrayContaining(["cut:gateway", "kill:worker", "kill:agent"]),
  );
  expect(() => chooseFaults("burn")).toThrow("'burn'");
});
