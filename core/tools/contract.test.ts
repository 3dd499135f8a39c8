import { expect, expectTypeOf, test } from "vitest";
import { z } from "../protocol/parse.ts";
import {
  type Content,
  defineTool,
  faultResult,
  jobResult,
  sharedResult,
  textOf,
  textResult,
  toLegacyResult,
} from "./contract.ts";

test("silent: the model reads it, the person does not", () => {
  expect(textResult("42", { exit_code: 0 })).toEqual({
    content: [{ type: "text", text: "42" }],
    details: { exit_code: 0 },
  });
  expect(textResult("42")).not.toHaveProperty("details");
});

test("shared: both read it", () => {
  expect(sharedResult("sent")).toEqual({ content: [{ type: "text", text: "sent" }], forUser: "sent" });
});

test("job: accepted, and the result comes under a token", () => {
  expect(jobResult("started", "job-1")).toMatchObject({ forUser: "started", job: "job-1" });
});

test("fault: the model reads the message, the details stay", () => {
  const cause = new Error("EACCES");
  const result = faultResult("access_denied", "Error: no", { cause, details: { exit_code: 1 } });
  expect(result).toEqual({
    content: [{ type: "text", text: "Error: no" }],
    fault: { code: "access_denied", message: "Error: no", cause },
    details: { exit_code: 1 },
  });
  expect(faultResult("io", "Error")).toEqual({
    content: [{ type: "text", text: "Error" }],
    fault: { code: "io", message: "Error" },
  });
});

const MIXED: Content[] = [
  { type: "text", text: "a" },
  { type: "image", mediaType: "image/png", data: "AAAA" },
  { type: "artifact", id: "f1", mediaType: "text/csv", bytes: 3, sha256: "00" },
];

test("textOf names what is not text in a word", () => {
  expect(textOf({ content: MIXED })).toBe("a\n[image image/png]\n[file text/csv, 3 bytes]");
  expect(textOf({ content: [] })).toBe("");
});

test("the legacy shape", () => {
  expect(toLegacyResult("read", textResult("hi"))).toEqual({ tool: "read", status: "success", result: "hi" });
  expect(toLegacyResult("read", faultResult("io", "Error: no"))).toEqual({
    tool: "read",
    status: "error",
    result: "Error: no",
    error: "Error: no",
  });
});

test("defineTool types execute by the schema", () => {
  defineTool({
    name: "t",
    description: "",
    input: z.strictObject({ path: z.string(), limit: z._default(z.int(), 5) }),
    effect: "read",
    idempotent: true,
    timeoutMs: 1,
    maxTimeoutMs: 1,
    execute: async (input) => {
      expectTypeOf(input).toEqualTypeOf<{ path: string; limit: number }>();
      return textResult(input.path);
    },
  });
});
