import fc from "fast-check";
import { expect, test } from "vitest";
import type { Entry } from "./history.ts";
import { codePoints, estimateTokens, headOf, textTokens } from "./tokens.ts";

test("three characters a token, rounded up", () => {
  expect(["", "a", "abc", "abcd", "🌡🌡🌡"].map(textTokens)).toEqual([0, 1, 1, 2, 1]);
});

test("a call counts with its arguments and its result", () => {
  const outcome = { status: "success" as const, text: "x".repeat(300), elapsedMs: 1 };
  const call = { id: "1", modelCallId: "1", name: "read", args: { path: "/".repeat(300) } };
  const asks = (more: object): Entry => ({ role: "assistant", text: "", calls: [{ ...call, ...more }] });
  expect(estimateTokens([asks({})])).toBeGreaterThan(100);
  expect(estimateTokens([asks({ outcome })])).toBe(estimateTokens([asks({})]) + 100);
});

test("property: code points as the language counts them, and the head of any text", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), fc.nat(30), (text, count) => {
      const points = Array.from(text);
      expect(codePoints(text)).toBe(points.length);
      expect(headOf(text, count)).toBe(points.slice(0, count).join(""));
    }),
  );
});
