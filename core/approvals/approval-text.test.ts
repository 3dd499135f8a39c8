import { describe, expect, test } from "vitest";
import { approvalText } from "./approval-text.ts";

test("the arguments of one call are JSON without invisible characters", () => {
  const approval = { parameters: { path: "a\u200b", content: "x\ny" } };
  expect(approvalText({ approval }, 1)).toEqual({ rest: '{\n "path": "a\\u200b",\n "content": "x\\ny"\n}' });
});

test("several calls are a line each", () => {
  const parameters = { "1. write on pi": { path: "a" }, "2. write on\npi": { path: "b\u202e" } };
  expect(approvalText({ approval: { parameters }, members: [1, 2] }, 1)).toEqual({
    rest: '1. write on pi {"path":"a"}\n2. write on\\npi {"path":"b\\u202e"}',
  });
});

describe("a text that the sentence calls 'this'", () => {
  const shown = (command: string, others = {}) =>
    approvalText(
      { approval: { parameters: { command, ...others }, card: { shows: ["command"] } } },
      undefined,
    );

  test("is its lines, and the rest is JSON", () => {
    expect(shown("ls\nrm -rf a\n", { timeout_ms: 5 })).toEqual({
      lines: ["ls", "rm -rf a"],
      rest: '{"timeout_ms":5}',
    });
    expect(shown("ls")).toEqual({ lines: ["ls"], rest: "" });
  });

  test("may stand within what Home sends", () => {
    const parameters = { tool: "bash", parameters: { command: "ls" }, timeout_ms: 5 };
    const approval = { parameters, card: { shows: ["parameters", "command"] } };
    expect(approvalText({ approval }, undefined)).toEqual({
      lines: ["ls"],
      rest: '{"tool":"bash","timeout_ms":5,"parameters":{}}',
    });
    const wrong = { parameters, card: { shows: ["parameters", "none", "command"] } };
    expect(approvalText({ approval: wrong }, undefined)).toEqual({ rest: JSON.stringify(parameters) });
  });

  test.each([
    ["invisible characters", "ls \u202ex"],
    ["a carriage return", "ls\rrm -rf a"],
    ["empty lines", `ls${"\n".repeat(4)}rm -rf a`],
    ["spaces", `ls${" ".repeat(50)}rm -rf a`],
    ["tabs", `ls${"\t".repeat(50)}rm -rf a`],
    ["a long line", `echo ${"x".repeat(1_000)}; rm -rf a`],
    ["many lines", `${"ls\n".repeat(300)}rm -rf a`],
    ["empty lines at its end", "ls\n\n\n"],
    ["nothing to see", " \n "],
  ])("is JSON where %s could hide a part of it", (_, command) => {
    const { lines, rest } = shown(command);
    expect(lines).toBeUndefined();
    expect(JSON.parse(rest)).toEqual({ command });
  });
});
