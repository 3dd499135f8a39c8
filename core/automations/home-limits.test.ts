import { describe, expect, test } from "vitest";
import { HOUR_MS, MINUTE_MS } from "../time/zone.ts";
import {
  beginFrom,
  HomeCommands,
  heldUntil,
  NO_COMMANDS,
  withBeginning,
  withCommand,
  withHomeClockSet,
  withHomeRestart,
} from "./home-limits.ts";
import { NOON, stepOf } from "./testkit/rules.ts";

const on = stepOf();
const off = stepOf({ action: "turn_off" });
const other = stepOf({ key: "fan" });

function sent(count: number, step = on, at = NOON): HomeCommands {
  return Array.from({ length: count }).reduce<HomeCommands>((all) => withCommand(all, step, at), NO_COMMANDS);
}

describe("limits of all rules of a home", () => {
  test("a run a second", () => {
    expect(beginFrom(withBeginning(NO_COMMANDS, NOON))).toBe(NOON + 1_000);
  });

  test("opposite commands are 10 s apart, of a heater 5 min; the same one is not held back", () => {
    const one = sent(1);
    expect(heldUntil(one, on, NOON)).toBeLessThanOrEqual(NOON);
    expect(heldUntil(one, off, NOON)).toBe(NOON + 10_000);
    expect(heldUntil(one, off, NOON + 10_000)).toBeLessThanOrEqual(NOON + 10_000);
    expect(heldUntil(one, other, NOON)).toBeLessThanOrEqual(NOON);
    const heat = stepOf({ danger: "heat" });
    expect(heldUntil(sent(1, heat), off, NOON)).toBe(NOON + 5 * MINUTE_MS);
    expect(heldUntil(sent(1, off), heat, NOON)).toBe(NOON + 5 * MINUTE_MS);
  });

  test("60 commands of a device in an hour, 300 of all", () => {
    expect(heldUntil(sent(59), on, NOON)).toBeLessThanOrEqual(NOON);
    expect(heldUntil(sent(60), on, NOON)).toBe(NOON + HOUR_MS);
    expect(heldUntil(sent(60), other, NOON)).toBeLessThanOrEqual(NOON);
    expect(heldUntil(sent(60), on, NOON + HOUR_MS)).toBeLessThanOrEqual(NOON + HOUR_MS);
    const many = [1, 2, 3, 4, 5].reduce<HomeCommands>(
      (all, key) =>
        Array.from({ length: 60 }).reduce<HomeCommands>(
          (own) => withCommand(own, stepOf({ key: `${key}` }), NOON),
          all,
        ),
      NO_COMMANDS,
    );
    expect(heldUntil(many, other, NOON)).toBe(NOON + HOUR_MS);
  });

  test("a start with a clock that is hours behind holds nothing back until then", () => {
    const before = withHomeRestart(withBeginning(sent(1), NOON), NOON - 3 * HOUR_MS);
    expect(beginFrom(before)).toBe(NOON - 3 * HOUR_MS + 1_000);
    expect(before.sent.every(({ at }) => at <= NOON - 3 * HOUR_MS)).toBe(true);
    const after = withHomeRestart(withBeginning(sent(1), NOON), NOON + HOUR_MS);
    expect(beginFrom(after)).toBe(NOON + 1_000);
  });

  test("a clock that is set makes no span longer or shorter, and they go through a file", () => {
    const moved = withHomeClockSet(withBeginning(sent(1), NOON), -HOUR_MS);
    expect(heldUntil(moved, off, NOON - HOUR_MS)).toBe(NOON - HOUR_MS + 10_000);
    expect(beginFrom(moved)).toBe(NOON - HOUR_MS + 1_000);
    expect(HomeCommands.parse(JSON.parse(JSON.stringify(moved)))).toEqual(moved);
  });
});
