import fc from "fast-check";
import { expect, test } from "vitest";
import { VALUE_TYPES } from "../protocol/rules.ts";
import { isEqual, readValue } from "./value.ts";

test.each<[unknown, string | undefined, number | undefined]>([
  [-18.2, "°C", -18.2],
  ["-18.2", "°C", -18.2],
  ["−18.2", "°C", -18.2],
  ["-18,2", "°C", -18.2],
  [" 21 ", "°C", 21],
  ["+3", "°C", 3],
  ["1e3", "W", 1_000],
  ["-18.2 °C", "°C", -18.2],
  ["-18.2°C", "°C", -18.2],
  ["-18.2 °F", "°C", undefined],
  ["12 bottles", undefined, undefined],
  ["1.234,5", "W", undefined],
  ["1 of 2", undefined, undefined],
  ["", undefined, undefined],
  ["unavailable", undefined, undefined],
  ["Unknown", undefined, undefined],
  ["None", undefined, undefined],
  ["NaN", undefined, undefined],
  ["Infinity", undefined, undefined],
  ["9".repeat(400), undefined, undefined],
  [Number.NaN, undefined, undefined],
  [Number.POSITIVE_INFINITY, undefined, undefined],
  [null, undefined, undefined],
  [undefined, undefined, undefined],
  [true, undefined, undefined],
  [[3], undefined, undefined],
])("%j in %s is the number %s", (value, unit, expected) => {
  expect(readValue({ value }, "number", unit)).toBe(expected);
});

test("a value in another unit is unknown, one without a unit is taken", () => {
  expect(readValue({ value: 12, unit: "°F" }, "number", "°C")).toBeUndefined();
  expect(readValue({ value: 12, unit: " °C" }, "number", "°C")).toBe(12);
  expect(readValue({ value: 12 }, "number", "°C")).toBe(12);
  expect(readValue({ value: 12, unit: "°C" }, "number", undefined)).toBe(12);
});

test.each<[unknown, boolean | undefined]>([
  [true, true],
  ["ON", true],
  ["True", true],
  [1, true],
  [0, false],
  ["off", false],
  ["open", undefined],
  ["unavailable", undefined],
  [null, undefined],
])("%j is the boolean %s", (value, expected) => {
  expect(readValue({ value }, "boolean", undefined)).toBe(expected);
});

test("texts are compared without case and space, and are bounded", () => {
  expect(readValue({ value: " Open " }, "text", undefined)).toBe("Open");
  expect(isEqual("Open", "open")).toBe(true);
  expect(isEqual("open", true)).toBe(false);
  expect(readValue({ value: "x".repeat(9_999) }, "text", undefined)).toHaveLength(200);
  expect(readValue({ value: {} }, "text", undefined)).toBeUndefined();
});

test("anything has an answer: a value of the type, or none", () => {
  const anything = fc.anything({ withNullPrototype: true, withObjectString: true });
  fc.assert(
    fc.property(anything, fc.constantFrom(...VALUE_TYPES), (value, type) => {
      const read = readValue({ value }, type, "°C");
      if (read !== undefined) expect(typeof read).toBe(type === "text" ? "string" : type);
      if (typeof read === "number") expect(Number.isFinite(read)).toBe(true);
    }),
  );
});
