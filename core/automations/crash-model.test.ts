/** Rules over a house that loses its power before and after each write: nothing twice, untold, untrue, by unknown or too early. */
import fc from "fast-check";
import { afterAll, expect, test } from "vitest";
import type { Automation } from "../protocol/automation.ts";
import { DAY_MS, MINUTE_MS } from "../time/zone.ts";
import { type DeviceMode, House, LONG_MS } from "./testkit/house.ts";
import { conditionOf, ruleOf, stepOf } from "./testkit/rules.ts";

const MODES: readonly DeviceMode[] = ["works", "works", "works", "deaf", "slow", "mute", "offline"];
const FIRINGS_MIN = 10_000;

type Fault = { fuse: number; loss: number; off: number; isStale: boolean };
type Round = {
  fault: Fault | undefined;
  mode: DeviceMode;
  blip: boolean;
  clock: number | undefined;
  open: number;
  closed: number;
  undo: boolean;
  so: boolean;
};

const count = { firings: 0, published: 0, crashes: 0 };
afterAll(() => {
  console.info(JSON.stringify(count));
});

const anyRule: fc.Arbitrary<Automation> = fc
  .record({
    holds: fc.array(fc.constantFrom(0, MINUTE_MS, 5 * MINUTE_MS), { minLength: 1, maxLength: 3 }),
    match: fc.constantFrom("all" as const, "any" as const),
    waits: fc.array(fc.constantFrom(0, 0, 3), { minLength: 1, maxLength: 3 }),
    over: fc.constantFrom("leave" as const, "off" as const, "undo" as const),
    at_most_minutes: fc.constantFrom(undefined, 4, 30),
    go_on: fc.boolean(),
    danger: fc.constantFrom(undefined, "heat" as const),
    say: fc.constantFrom(undefined, "It is open."),
    only_if: fc.constantFrom(undefined, { presence: "nobody_home" as const }),
  })
  .map(({ holds, waits, danger, at_most_minutes, say, only_if, ...rest }) => {
    const keys = waits.map((_, index) => `lamp-${index}`);
    return ruleOf({
      ...rest,
      when: holds.map((hold_ms) => conditionOf({ hold_ms, clear_hold_ms: hold_ms === 0 ? 0 : MINUTE_MS })),
      do: waits.map((wait_minutes, index) =>
        stepOf({ key: keys[index] ?? "", wait_minutes, ...(danger && index === 0 && { danger }) }),
      ),
      end: keys.map((key) => stepOf({ key, action: "turn_off" })),
      an_hour: 60,
      ...(at_most_minutes !== undefined && { at_most_minutes }),
      ...(say !== undefined && { say }),
      ...(only_if && { only_if }),
    });
  });

const anyRound: fc.Arbitrary<Round> = fc.record({
  fault: fc.option(
    fc.record({
      fuse: fc.integer({ min: 0, max: 30 }),
      loss: fc.constantFrom(0, 0.5, 1),
      off: fc.constantFrom(5_000, 5 * MINUTE_MS, 30 * MINUTE_MS),
      isStale: fc.boolean(),
    }),
    { nil: undefined, freq: 6 },
  ),
  mode: fc.constantFrom(...MODES),
  blip: fc.boolean(),
  clock: fc.option(fc.constantFrom(-DAY_MS, -20 * MINUTE_MS, 5 * MINUTE_MS, 3 * 3_600_000, 30 * DAY_MS), {
    nil: undefined,
    freq: 8,
  }),
  open: fc.integer({ min: 6, max: 20 }),
  closed: fc.integer({ min: 4, max: 8 }),
  undo: fc.boolean(),
  so: fc.boolean(),
});

test("nothing is done twice, untold, untrue, by unknown or too early", () => {
  fc.assert(
    fc.property(anyRule, fc.array(anyRound, { minLength: 1, maxLength: 40, size: "max" }), (rule, rounds) => {
      const house = new House(rule);
      report(house, false);
      house.pass(2 * MINUTE_MS);
      for (const round of rounds) play(house, round);
      house.mode = "works";
      report(house, false);
      house.pass(LONG_MS);
      judge(house);
    }),
    { numRuns: 800 },
  );
  expect(count.firings).toBeGreaterThan(FIRINGS_MIN);
}, 120_000);

function play(house: House, { fault, mode, blip, clock, open, closed, undo, so }: Round): void {
  house.mode = mode;
  house.isSo = so;
  if (fault) {
    house.fuse = fault.fuse;
    house.loss = fault.loss;
    house.off = fault.off;
    house.isStale = fault.isStale;
  }
  report(house, true);
  house.pass(20_000);
  if (blip) report(house, undefined);
  house.pass(20_000);
  // Before a clock that was wrong at the start is right, it is not set to another time.
  if (clock !== undefined && house.sure) house.setClock(clock);
  if (blip) report(house, true);
  house.pass(open * MINUTE_MS);
  house.fuse = undefined;
  // A run that changed nothing leaves the one before it to be undone.
  if (undo) house.give({ of: "undo", firing: house.state.changed?.firing ?? house.state.firing });
  report(house, false);
  house.pass(closed * MINUTE_MS);
}

function report(house: House, value: boolean | undefined): void {
  for (const index of house.rule.when.keys()) house.report(index, value);
}

function judge(house: House): void {
  const { rule, published, begins, runs, state } = house;
  count.firings += begins.length;
  count.published += published.length;
  count.crashes += house.crashes;
  const ids = published.map(({ id }) => id);
  expect(new Set(ids).size, "twice").toBe(ids.length);
  expect(state.run, "a run that does not end").toBeUndefined();
  for (const id of ids) expect(runs.has(firingOf(id)), `${id} is untold`).toBe(true);
  for (const run of runs.values()) {
    expect(run.ended, `${run.firing} has no last word`).toBeDefined();
    const sent = new Set(ids.filter((id) => firingOf(id) === run.firing).map(stepOfId));
    for (const { step, outcome } of run.steps)
      if (outcome === "not_sent")
        expect(sent.has(step), `${run.firing}:${step} ran, and is told as not sent`).toBe(false);
      else if (outcome !== "unknown")
        expect(sent.has(step), `${run.firing}:${step} is ${outcome}, and never ran`).toBe(true);
    for (const step of sent)
      expect(
        run.steps.some((one) => one.step === step),
        `${run.firing}:${step} ran, and is not told`,
      ).toBe(true);
  }
  for (const { at, values, since } of begins) {
    const isSo = (index: number) => {
      const hold = rule.when[index]?.condition.hold_ms ?? 0;
      return values[index] === true && at - (since[index] ?? at) >= hold;
    };
    const so = values.map((_, index) => isSo(index));
    expect(
      rule.match === "all" ? so.every(Boolean) : so.some(Boolean),
      `by unknown, or early: ${JSON.stringify({ at, values, since })}`,
    ).toBe(true);
  }
  for (const [index, { id, at }] of published.entries()) {
    const before = published[index - 1];
    const step = stepOfId(id);
    const waitMs = (rule.do[step]?.wait_minutes ?? 0) * MINUTE_MS;
    if (before && firingOf(before.id) === firingOf(id) && step > 0)
      expect(at - before.at, `${id} is early`).toBeGreaterThanOrEqual(waitMs);
  }
}

const firingOf = (id: string) => Number(id.split(":")[2]);
const stepOfId = (id: string) => Number(id.split(":")[3]);
