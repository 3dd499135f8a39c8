import { expect, test } from "vitest";
import { approvalText } from "./approval-text.ts";

test("one call is its arguments; several are a line each, and nothing in them makes another line", () => {
  const approval = { parameters: { path: "a\u200b", content: "x\ny" } };
  expect(approvalText({ approval }, 1)).toBe('{\n "path": "a\\u200b",\n "content": "x\\ny"\n}');
  const parameters = {
    "1. write on pi\n2. read on pi": { path: "a", content: "x\ny" },
    "2. write on nas\u202e": { path: "b" },
  };
  expect(approvalText({ approval: { parameters }, members: [1, 2] }, 1)).toBe(
    '1. write on pi\\n2. read on pi {"path":"a","content":"x\\ny"}\n2. write on nas\\u202e {"path":"b"}',
  );
});
