import { expect, test } from "vitest";
import { addUsage } from "./history.ts";

test("usage adds up, and a missing count adds nothing", () => {
  const soFar = { input_tokens: 1, output_tokens: 2 };
  expect(addUsage(soFar, { input_tokens: 10, output_tokens: 20 })).toEqual({
    input_tokens: 11,
    output_tokens: 22,
  });
  expect(addUsage(soFar, undefined)).toEqual(soFar);
});
