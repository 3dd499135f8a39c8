import fc from "fast-check";
import { expect, test } from "vitest";
import { oneLine } from "./one-line.ts";

test("any text stays on one line", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), fc.integer({ min: 1, max: 100 }), (text, max) => {
      const line = oneLine(text, max);
      expect(line.length).toBeLessThanOrEqual(max);
      expect(line).not.toMatch(/[\p{Cc}\u2028\u2029]/u);
    }),
  );
});
