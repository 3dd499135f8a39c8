import fc from "fast-check";
import { expect, test } from "vitest";
import { ReplayWindow } from "./replays.ts";

test("each counter once, in any order, as far back as the window reaches", () => {
  const window = new ReplayWindow(-1, 3);
  expect([10, 12, 11, 12, 10].map((n) => window.accept(n))).toEqual([
    "fresh",
    "fresh",
    "fresh",
    "repeat",
    "repeat",
  ]);
  expect(window.accept(13)).toBe("fresh");
  // 10 was the first to be dropped.
  expect([10, 9, 11].map((n) => window.accept(n))).toEqual(["old", "old", "repeat"]);
});

test("the same counter with another id is another message", () => {
  const window = new ReplayWindow();
  expect([window.accept(5, "a"), window.accept(5, "b"), window.accept(5, "a")]).toEqual([
    "fresh",
    "fresh",
    "repeat",
  ]);
});

test("a counter below the floor is old, also at the start", () => {
  const window = new ReplayWindow(100);
  expect([window.accept(100), window.accept(101)]).toEqual(["old", "fresh"]);
  window.raise(200);
  expect([window.accept(150), window.accept(201), window.accept(101)]).toEqual(["old", "fresh", "repeat"]);
});

test("no message is fresh twice, in any order", () => {
  fc.assert(
    fc.property(
      fc.array(fc.nat(30), { maxLength: 200 }),
      fc.integer({ min: 1, max: 10 }),
      (counters, size) => {
        const window = new ReplayWindow(-1, size);
        const fresh = counters.filter((n) => window.accept(n) === "fresh");
        expect(new Set(fresh).size).toBe(fresh.length);
      },
    ),
  );
});
