import { describe, expect, test } from "vitest";
import { DAY_MS, HOUR_MS, MINUTE_MS } from "../time/zone.ts";
import { isAllowedNow } from "./only-if.ts";
import { NOON } from "./testkit/rules.ts";
import { combined, type Truth } from "./truth.ts";

const TRUTHS: readonly Truth[] = [true, false, undefined];

/** All lists of so many truths. */
function listsOf(length: number): Truth[][] {
  if (length === 0) return [[]];
  return listsOf(length - 1).flatMap((list) => TRUTHS.map((truth) => [...list, truth]));
}

/** What the unknown ones may be. */
function completions([first, ...rest]: Truth[]): boolean[][] {
  if (rest.length === 0 && first === undefined) return [[true], [false]];
  const own = first === undefined ? [true, false] : [first];
  return own.flatMap((one) =>
    rest.length === 0 ? [[one]] : completions(rest).map((more) => [one, ...more]),
  );
}

describe("up to four conditions against all that the unknown ones may be", () => {
  test.each(["all", "any"] as const)("%s", (match) => {
    for (const list of [1, 2, 3, 4].flatMap(listsOf)) {
      const results = new Set(
        completions(list).map((whole) => (match === "all" ? whole.every(Boolean) : whole.some(Boolean))),
      );
      expect(combined(match, list), JSON.stringify(list)).toBe(
        results.size === 1 ? [...results][0] : undefined,
      );
    }
  });
});

describe("only_if", () => {
  const at = { at: NOON, zone: "Europe/Berlin" };

  test.each([
    ["nobody_home", "nobody", true],
    ["nobody_home", "somebody", false],
    ["nobody_home", "unknown", undefined],
    ["somebody_home", "somebody", true],
    ["somebody_home", "nobody", false],
    ["somebody_home", "unknown", undefined],
  ] as const)("%s while %s: %s", (wanted, presence, expected) => {
    expect(isAllowedNow({ presence: wanted }, { ...at, presence })).toBe(expected);
  });

  test("another day or hour is enough for a no, also while presence is unknown", () => {
    const sunday = { days: [6] };
    const evening = { between: { from: 18 * 60, to: 6 * 60, zone: "Europe/Berlin" } };
    const unknown = { ...at, presence: "unknown" as const };
    expect(isAllowedNow(sunday, unknown)).toBe(true);
    expect(isAllowedNow(sunday, { ...unknown, at: NOON + DAY_MS })).toBe(false);
    expect(isAllowedNow({ ...evening, presence: "nobody_home" }, unknown)).toBe(false);
    expect(isAllowedNow(evening, { ...unknown, at: NOON + 6 * HOUR_MS })).toBe(true);
    expect(isAllowedNow(evening, { ...unknown, at: NOON + 18 * HOUR_MS - MINUTE_MS })).toBe(true);
    expect(isAllowedNow(undefined, unknown)).toBe(true);
  });
});
