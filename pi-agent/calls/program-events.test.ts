import { z } from "@edgecall/core/protocol/parse.ts";
import { defineTool, textResult } from "@edgecall/core/tools/contract.ts";
import { expect, test } from "vitest";
import { ProgramEvents, type SaidEvent } from "./program-events.ts";

function heard(
  events: readonly string[] | undefined,
  chunks: readonly string[],
  stream?: string,
): SaidEvent[] {
  const said: SaidEvent[] = [];
  const all = new ProgramEvents();
  all.onEvent((event) => void said.push(event));
  const tool = defineTool({
    name: "box",
    description: "",
    input: z.strictObject({}),
    effect: "read",
    idempotent: true,
    timeoutMs: 1_000,
    maxTimeoutMs: 1_000,
    ...(events && { events }),
    execute: async () => textResult(""),
  });
  const reader = all.reader(tool, stream);
  for (const chunk of chunks) reader?.add(chunk);
  reader?.end();
  return said;
}

test("a line that is an object with a declared event is one, however the output is cut", () => {
  const output =
    'begins\n{"event":"opened","value":3,"text":"the lid"}\n{"event":"opened"}\n{"event":"other"}\n{"event":"closed"}';
  const all = [
    { tool: "box", name: "opened", value: 3, text: "the lid" },
    { tool: "box", name: "opened", value: "opened" },
    { tool: "box", name: "closed", value: "closed" },
  ];
  expect(heard(["opened", "closed"], [output])).toEqual(all);
  expect(heard(["opened", "closed"], [...output])).toEqual(all);
});

test("nothing else is an event", () => {
  const lines = [
    '{"event":1}',
    '["event"]',
    '{"event":"opened"',
    "event: opened",
    `{"event":"opened","text":"${"x".repeat(3_000)}"}`,
  ];
  expect(heard(["opened"], [lines.join("\n")])).toEqual([]);
  expect(heard(undefined, ['{"event":"opened"}'])).toEqual([]);
});

test("texts are cut to their bounds, and events of a job have their place in its output", () => {
  const long = JSON.stringify({ event: "opened", value: "v".repeat(500), text: "t".repeat(500) });
  expect(heard(["opened"], [`${long}\n{"event":"opened"}`], "job")).toEqual([
    {
      tool: "box",
      name: "opened",
      value: "v".repeat(200),
      text: `${"t".repeat(199)}…`,
      stream: { name: "job", index: 0 },
    },
    { tool: "box", name: "opened", value: "opened", stream: { name: "job", index: 1 } },
  ]);
});
