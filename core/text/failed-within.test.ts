import { expect, test } from "vitest";
import { counted } from "./counted.ts";
import { failedWithin } from "./failed-within.ts";

const fine = { status: "success" };
const denied = { status: "error", error_type: "permission_denied" };
const failed = { status: "error", error_type: "timeout" };

test.each([
  [[], undefined],
  [[fine], undefined],
  [[denied], "1 call on the device was denied"],
  [[denied, denied], "2 calls on the device were denied"],
  [[fine, denied], "1 of 2 calls on the device was denied"],
  [[fine, failed, denied], "2 of 3 calls on the device failed"],
])("N10: an answer over %j is not shown as done", (calls, words) => {
  expect(failedWithin(calls)).toBe(words);
});

test("N10: one thing is no plural", () => {
  expect([0, 1, 2].map((n) => counted(n, "action"))).toEqual(["0 actions", "1 action", "2 actions"]);
});
