/** Tests the plan of a run of rules that act. */
import { expect, test } from "vitest";
import { ACTING_FAULT_NAMES } from "./fault-names.ts";
import { type PlannedRule, planHouses } from "./plan.ts";

const rulesOf = (seed: number, count: number, only?: readonly number[]) =>
  planHouses(seed, count, ACTING_FAULT_NAMES, only).flatMap(({ rules }) => rules);

test("each firing is planned once, and no home has more rules than it may", () => {
  const houses = planHouses(7, 300);
  const names = houses.flatMap(({ rules }) => rules.map(({ name }) => name));
  expect(new Set(names).size).toBe(300);
  for (const { rules, quiet } of houses) expect(rules.length + quiet.length).toBeLessThanOrEqual(50);
});

test("36 firings meet every fault", () => {
  const met = new Set(rulesOf(3, 36).map(({ fault }) => fault.name));
  expect(met).toEqual(new Set(ACTING_FAULT_NAMES));
});

test("each kind of rule is among 36 firings, and none that a played gateway does not know is with one", () => {
  const isMore = ({ steps, presence, trigger }: PlannedRule) => [
    steps.some(({ device }) => device === "agent"),
    presence !== undefined,
    trigger === "event",
  ];
  const found = rulesOf(3, 36).map(isMore);
  for (const kind of [0, 1, 2]) expect(found.filter((one) => one[kind]).length).toBeGreaterThan(2);
  const played = planHouses(3, 36, ACTING_FAULT_NAMES, undefined, true).flatMap(({ rules }) => rules);
  expect(played.flatMap(isMore)).not.toContain(true);
});

test("what only takes a time to end has one, and nothing brings an agent's action back", () => {
  for (const { trigger, over, atMostMs, steps } of rulesOf(5, 300)) {
    if (trigger === "event" && over !== "leave") expect(atMostMs).toBeDefined();
    if (steps.some(({ device }) => device === "agent")) expect(over).not.toBe("undo");
  }
});

test("one firing that is run again is the same one", () => {
  const all = rulesOf(11, 100);
  expect(rulesOf(11, 100, [57])).toEqual([all.find(({ k }) => k === 57)]);
});
