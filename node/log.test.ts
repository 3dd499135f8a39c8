import { expect, test } from "vitest";
import { jsonLog, messageOf } from "./log.ts";

test("one JSON object a line: time, level, program, event, and its fields", () => {
  const lines: string[] = [];
  const log = jsonLog({ program: "agent", agent: "pi" }, { write: (line) => lines.push(line) });
  log("info", "tools.changed", { tools: ["read"] });
  log("debug", "unseen");
  expect(lines).toEqual([
    expect.stringMatching(
      /^\{"ts":"[^"]+Z","level":"info","program":"agent","agent":"pi","event":"tools.changed","tools":\["read"\]\}\n$/,
    ),
  ]);
  jsonLog({ program: "bridge" }, { write: (line) => lines.push(line), debug: true })("debug", "call");
  expect(lines[1]).toContain('"level":"debug","program":"bridge","event":"call"');
});

test("an error is logged with its message", () => {
  expect([messageOf(new Error("full")), messageOf("gone")]).toEqual(["full", "gone"]);
});
