import { expect, test } from "vitest";
import {
  errorInReply,
  errorOfStatus,
  LONGEST_WAIT_MS,
  MAX_ATTEMPTS,
  MAX_SLOW_ATTEMPTS,
  ModelError,
  type RetryKind,
  readRetryAfter,
  retryDelay,
} from "./retry.ts";

test.each<[number, string | null, string, RetryKind]>([
  [400, null, "", "never"],
  [401, null, "", "never"],
  [402, null, "", "never"],
  [403, null, "", "never"],
  [404, null, "", "never"],
  [422, null, "", "never"],
  [408, null, "", "now"],
  [409, null, "", "now"],
  [425, null, "", "now"],
  [500, null, "", "now"],
  [502, null, "", "now"],
  [503, null, "", "now"],
  [503, "2", "", "later"],
  [503, null, '{"error":{"code":503,"message":"Loading model","type":"unavailable_error"}}', "later"],
  [503, null, '{"error":{"message":"Error loading model.bin: no space"}}', "now"],
  [529, null, "", "later"],
  [429, null, "", "later"],
  [429, null, '{"error":{"code":"insufficient_quota"}}', "never"],
  [429, null, '{"error":{"code":"billing_hard_limit_reached"}}', "never"],
  // OpenAI and Gemini send both for limits per minute.
  [
    429,
    null,
    '{"error":{"message":"Limit 3/min. Add a payment method at https://…/account/billing"}}',
    "later",
  ],
  [
    429,
    null,
    '{"error":{"message":"check your plan and billing details","status":"RESOURCE_EXHAUSTED"}}',
    "later",
  ],
])("status %i with Retry-After %s and %s: %s", (status, retryAfter, body, kind) => {
  const headers = new Headers(retryAfter === null ? {} : { "retry-after": retryAfter });
  expect(errorOfStatus(status, headers, body)).toMatchObject({ kind, status });
});

test.each<[string, string]>([
  ['{"error":{"message":"no"}}', ": no"],
  ['{"error":"no"}', ": no"],
  ['{"message":"no"}', ": no"],
  ['{"detail":"no"}', ": no"],
  ['[{"error":{"message":"no"}}]', ": no"],
  ["<html>", ""],
  ["null", ""],
  ["[]", ""],
  ['{"error":null}', ""],
  ['{"error":{"message":7}}', ""],
  [`{"error":{"message":"${"x ".repeat(300)}"}}`, `: ${"x ".repeat(249)}x…`],
])("the text of an error is found in %s", (body, words) => {
  expect(errorOfStatus(400, null, body).message).toBe(`the model endpoint answered 400${words}`);
});

test.each([undefined, null, "", 0, "text", [], { code: "429" }, { status: 429 }])(
  "errorInReply makes an error of %j",
  (error) => {
    const made = errorInReply(error);
    expect(made).toBeInstanceOf(ModelError);
    expect(made.message).toMatch(/^the model endpoint (answered 429|reported an error: .)/);
  },
);

test("Retry-After", () => {
  const now = Date.parse("2026-11-21T10:00:00Z");
  expect(readRetryAfter(null)).toBeUndefined();
  expect(readRetryAfter("  ")).toBeUndefined();
  expect(readRetryAfter("soon")).toBeUndefined();
  expect(readRetryAfter("1.5")).toBe(1_500);
  expect(readRetryAfter("-1")).toBe(0);
  expect(readRetryAfter("Sat, 21 Nov 2026 10:00:07 GMT", now)).toBe(7_000);
  expect(readRetryAfter("Sat, 21 Nov 2026 09:00:00 GMT", now)).toBe(0);
});

test("pauses grow, and end with the last attempt", () => {
  const delays = (kind: RetryKind) =>
    Array.from({ length: MAX_ATTEMPTS }, (_, made) => retryDelay(new ModelError(kind, ""), made + 1));
  expect(delays("now")).toEqual([250, 500, 1_000, 2_000, undefined]);
  expect(delays("later")).toEqual([2_000, 4_000, 8_000, 16_000, undefined]);
  expect(delays("never")).toEqual(Array(MAX_ATTEMPTS).fill(undefined));
  expect(delays("cancelled")).toEqual(Array(MAX_ATTEMPTS).fill(undefined));
});

test("the endpoint's own wait has priority, unless it is too long for a person", () => {
  const error = (retryAfterMs: number) => new ModelError("later", "", { retryAfterMs });
  expect(retryDelay(error(5), 1)).toBe(5);
  expect(retryDelay(error(LONGEST_WAIT_MS), 1)).toBe(LONGEST_WAIT_MS);
  expect(retryDelay(error(LONGEST_WAIT_MS + 1), 1)).toBeUndefined();
});

test("D1 an endpoint that sent no first byte in its time gets one more try, not four", () => {
  const error = new ModelError("now", "it sent nothing", { slow: true });
  expect(retryDelay(error, 1)).toBe(250);
  expect(retryDelay(error, MAX_SLOW_ATTEMPTS)).toBeUndefined();
  expect(MAX_SLOW_ATTEMPTS).toBe(2);
});
