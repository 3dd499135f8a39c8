import { expect, test } from "vitest";
import { cutOf, unbroken, withCutLine } from "./cut.ts";

test.each([
  ["length", "length"],
  ["MAX_TOKENS", "length"],
  ["max_output_tokens", "length"],
  ["content_filter", "content_filter"],
  ["SAFETY", "content_filter"],
  ["stop", undefined],
  ["tool_calls", undefined],
  ["eos", undefined],
  [undefined, undefined],
])("L4: %s means %s", (finish, cut) => {
  expect(cutOf({ finish })).toBe(cut);
});

test("L4: a reply that ended with an error is tried again, and one that did not is used", () => {
  expect(() => unbroken({ finish: "error", model: "m" })).toThrowError(/model m failed in the middle/);
  const whole = { finish: "stop", model: "m" };
  expect(unbroken(whole)).toBe(whole);
});

test("L4: the line stands below the text, which stays as it was streamed", () => {
  expect(withCutLine("The disk is ", "length")).toBe(
    "The disk is \n\n[The answer was cut: the model reached MAX_TOKENS.]",
  );
  expect(withCutLine("Whole.", undefined)).toBe("Whole.");
});
