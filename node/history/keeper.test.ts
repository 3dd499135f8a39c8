/** What is kept of the values that come. */
import type { KeptValue, Sample } from "@edgecall/core/history/sample.ts";
import { describe, expect, test } from "vitest";
import { keptValue, SeriesKeeper } from "./keeper.ts";

const S = 1_000;
const T0 = 1_795_600_000_000 - (1_795_600_000_000 % 60_000);

/** @returns those of the values that are kept, as seconds and value */
function kept(kind: string, ...values: ReadonlyArray<readonly [second: number, value: KeptValue | null]>) {
  const keeper = new SeriesKeeper({ device: "d", reading: "r", kind });
  const samples: Sample[] = values.map(([second, value]) => ({ at: T0 + second * S, value }));
  return samples.filter((sample) => keeper.offer(sample)).map(({ at, value }) => [(at - T0) / S, value]);
}

describe("of a number", () => {
  test("each change is kept, where the one before is a minute old", () => {
    expect(kept("sensor", [0, 21.5], [60, 21.6], [120, 21.6], [180, 21.7])).toEqual([
      [0, 21.5],
      [60, 21.6],
      [180, 21.7],
    ]);
  });

  test("within a minute only a change of 2 % and of two steps is kept", () => {
    expect(kept("sensor", [0, 1_000], [5, 1_010], [10, 1_021], [15, 1_000], [20, 1_001])).toEqual([
      [0, 1_000],
      [10, 1_021],
      [15, 1_000],
    ]);
    expect(kept("sensor", [0, 1.5], [5, 1.6], [10, 1.7])).toEqual([
      [0, 1.5],
      [10, 1.7],
    ]);
  });

  test("one that was left out is kept when a minute has gone by and nothing else came", () => {
    const keeper = new SeriesKeeper({ device: "d", reading: "r", kind: "sensor" });
    keeper.offer({ at: T0, value: 1_000 });
    keeper.offer({ at: T0 + 5 * S, value: 1_010 });
    expect(keeper.flush(T0 + 30 * S)).toBeUndefined();
    expect(keeper.flush(T0 + 90 * S)).toEqual({ at: T0 + 5 * S, value: 1_010 });
    expect(keeper.flush(T0 + 120 * S)).toBeUndefined();
  });
});

test("of a state each change is kept, and each hour the same again", () => {
  expect(
    kept("binary_sensor", [0, false], [1, true], [2, false], [3, false], [3_601, false], [3_700, false]),
  ).toEqual(
    [
      [0, false],
      [1, true],
      [2, false],
      [3_602, false],
    ].map(([second, value]) => [second === 3_602 ? 3_700 : second, value]),
  );
});

test("more than six values in a minute are coarse, and the last of them is kept in the end", () => {
  const keeper = new SeriesKeeper({ device: "d", reading: "r", kind: "binary_sensor" });
  const isKept = Array.from({ length: 9 }, (_, nth) =>
    keeper.offer({ at: T0 + nth * S, value: nth % 2 === 0 }),
  );
  expect(isKept.filter(Boolean)).toHaveLength(6);
  expect([keeper.isCoarse, keeper.isCoarse]).toEqual([true, false]);
  expect(keeper.flush(T0 + 120 * S)).toEqual({ at: T0 + 8 * S, value: true });
});

test("each event is kept, also one like the one before", () => {
  expect(kept("event", [0, "single"], [5, "single"])).toHaveLength(2);
});

test("a day with too many values keeps a number each ten minutes, and states as before", () => {
  const number = new SeriesKeeper({ device: "d", reading: "r", kind: "sensor" });
  expect([0, 300, 601].map((second) => number.offer({ at: T0 + second * S, value: second }, true))).toEqual([
    true,
    false,
    true,
  ]);
  expect(number.isCoarse).toBe(true);
  const state = new SeriesKeeper({ device: "d", reading: "r", kind: "sensor" });
  expect(
    [0, 300].map((second) => state.offer({ at: T0 + second * S, value: `state ${second}` }, true)),
  ).toEqual([true, true]);
});

test("after a gap the first value is kept, whatever it is", () => {
  const keeper = new SeriesKeeper({ device: "d", reading: "r", kind: "sensor" });
  keeper.offer({ at: T0, value: 5 });
  keeper.reset();
  expect(keeper.offer({ at: T0 + S, value: 5 })).toBe(true);
});

test("what is no number, boolean or short text is none", () => {
  expect([Number.NaN, Number.POSITIVE_INFINITY, null, {}, "", "x".repeat(61)].map(keptValue)).toEqual(
    Array.from({ length: 6 }, () => undefined),
  );
  expect([-0, true, "heat"].map(keptValue)).toEqual([0, true, "heat"]);
});
