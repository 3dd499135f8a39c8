import { describe, expect, test } from "vitest";
import { budgetOf } from "./budget.ts";

function clockAt(start: number) {
  let now = start;
  return { now: () => now, pass: (ms: number) => (now += ms) };
}

describe("budget", () => {
  test("is counted from receipt, on the monotonic clock", () => {
    const clock = clockAt(5_000);
    const budget = budgetOf({ expires_in_ms: 1_000 }, 0, { now: clock.now, wallClock: () => undefined });
    expect(budget.remainingMs()).toBe(1_000);
    clock.pass(999);
    expect(budget.expired()).toBe(false);
    clock.pass(1);
    expect(budget.expired()).toBe(true);
    expect(budget.remainingMs()).toBe(0);
  });

  test("the absolute deadline counts only when the wall clock can be trusted", () => {
    const clocks = (wall: number | undefined) => ({ now: () => 0, wallClock: () => wall });
    const command = { expires_in_ms: 60_000, expires_at: 1_000_000 };
    expect(budgetOf(command, 0, clocks(undefined)).remainingMs()).toBe(60_000);
    expect(budgetOf(command, 0, clocks(990_000)).remainingMs()).toBe(10_000);
    expect(budgetOf(command, 0, clocks(1_000_001)).expired()).toBe(true);
  });

  test("a command without a deadline has unlimited time", () => {
    const budget = budgetOf({}, 99_000, { now: () => 0, wallClock: () => 1 });
    expect(budget.expired()).toBe(false);
    expect(budget.remainingMs()).toBe(Number.POSITIVE_INFINITY);
  });

  test("a message's unknown age is subtracted", () => {
    const clocks = { now: () => 100_000, wallClock: () => undefined };
    expect(budgetOf({ expires_in_ms: 10_000 }, 4_000, clocks).remainingMs()).toBe(6_000);
    expect(budgetOf({ expires_in_ms: 10_000 }, 12_000, clocks).expired()).toBe(true);
  });
});
