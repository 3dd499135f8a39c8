import { expect, test } from "vitest";
import { cutOf, withCutLine } from "./cut.ts";
import { toFinish } from "./reply.ts";

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
  expect(cutOf({ finish: finish && toFinish(finish) })).toBe(cut);
});

test("L4: the line stands below the text, which stays as it was streamed", () => {
  expect(withCutLine("The disk is ", "length")).toBe(
    "The disk is \n\n[The answer was cut: the model reached MAX_TOKENS.]",
  );
  expect(withCutLine("Whole.", undefined)).toBe("Whole.");
});
