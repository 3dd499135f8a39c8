import { describe, expect, test } from "vitest";
import { readPrices } from "../settings/prices.ts";
import { costOf } from "./prices.ts";

describe("PRICES", () => {
  test("none by default", () => {
    expect(readPrices(undefined)).toEqual({ ok: true, value: {} });
    expect(readPrices(" ")).toEqual({ ok: true, value: {} });
  });

  test.each([
    "x",
    "[]",
    `{"m":1}`,
    `{"m":{"in":1}}`,
    `{"m":{"in":-1,"out":1}}`,
    `{"m":{"in":1,"out":1,"cached":1}}`,
  ])("%s is refused with what would be right", (text) => {
    expect(readPrices(text)).toMatchObject({ ok: false, error: expect.stringContaining("PRICES: expected") });
  });

  test("are per million tokens, for input and output", () => {
    const prices = { mini: { in: 0.25, out: 2 } };
    expect(costOf(prices, "mini", { input_tokens: 1_000_000, output_tokens: 500_000 })).toBe(1.25);
    expect(costOf(prices, "other", { input_tokens: 1, output_tokens: 1 })).toBeUndefined();
    expect(costOf(prices, "toString", { input_tokens: 1, output_tokens: 1 })).toBeUndefined();
  });
});
