import fc from "fast-check";
import { expect, test } from "vitest";
import { compareVersions } from "./versions.ts";

test.each([
  ["", "0"],
  ["1.9.0", "1.10.0"],
  ["1.0", "1.0.1"],
  ["v1.2", "1.3"],
  ["2.0.0-rc1", "2.0.0"],
  ["2.0.0-alpha", "2.0.0-beta"],
  ["2.0.0-rc.2", "2.0.0-rc.10"],
  ["1.0.0", "2.0.0-rc1"],
])("%j is older than %j", (older, newer) => {
  expect(compareVersions(older, newer)).toBeLessThan(0);
  expect(compareVersions(newer, older)).toBeGreaterThan(0);
});

test.each([
  ["1.0", "1.0.0"],
  ["1.2.3+build7", "1.2.3"],
  ["v1.2", "1.2"],
])("%j and %j are the same", (a, b) => {
  expect(compareVersions(a, b)).toBe(0);
});

test("any versions have one order", () => {
  const part = fc.constantFrom("0", "1", "9", "10", "01", "a", "1a", "1e1", "rc", "");
  const version = fc
    .tuple(fc.array(part, { maxLength: 3 }), fc.array(part, { maxLength: 2 }))
    .map(([release, pre]) => release.join(".") + (pre.length > 0 ? `-${pre.join(".")}` : ""));
  fc.assert(
    fc.property(version, version, version, (a, b, c) => {
      expect(Math.sign(compareVersions(a, b))).toBe(0 - Math.sign(compareVersions(b, a)));
      const [first = "", second = "", third = ""] = [a, b, c].sort(compareVersions);
      expect(compareVersions(first, second)).toBeLessThanOrEqual(0);
      expect(compareVersions(second, third)).toBeLessThanOrEqual(0);
      expect(compareVersions(first, third)).toBeLessThanOrEqual(0);
    }),
    { numRuns: 2_000 },
  );
});
