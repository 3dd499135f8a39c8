/** The device's tools as its own model gets them, and as the gateway offers them over /mcp. */
import { jsonSchema } from "@edgecall/core/protocol/parse.ts";
import { callText, llamaGrammar } from "@edgecall/core/testkit/llama-grammar.ts";
import { refusedParts } from "@edgecall/core/testkit/model-schema.ts";
import { parseArguments } from "@edgecall/core/tools/arguments.ts";
import { ToolRegistry } from "@edgecall/core/tools/registry.ts";
import { afterAll, describe, expect, test } from "vitest";
import { inputOf } from "../skills/tool-schema.ts";
import { everyTool } from "../testing/every-tool.ts";

const { tools: every, close } = await everyTool();
afterAll(close);

const MADE_OF_A_SKILL = inputOf([
  { name: "room", type: "string", description: "", required: true, enum: ["hall", "attic"] },
  { name: "level", type: "number", description: "0 to 1", required: false, default: 0.5 },
]);

async function tools() {
  const [first, ...others] = every;
  if (!first) throw new Error("there is no tool");
  return [first, ...others, { ...first, name: "of_a_skill", input: MADE_OF_A_SKILL }];
}

test("L2: every tool has a schema that all endpoints take, with all of its parameters", async () => {
  const all = await tools();
  expect(all.length).toBeGreaterThan(40);
  for (const { function: offered } of new ToolRegistry(all).definitions()) {
    expect(refusedParts(offered.parameters), offered.name).toEqual([]);
    expect(offered.name).toMatch(/^[a-zA-Z0-9_-]{1,64}$/);
    expect(offered.description.length, offered.name).toBeLessThanOrEqual(1_024);
    const tool = all.find(({ name }) => name === offered.name);
    const { properties = {}, required } = jsonSchema(
      tool?.input ?? MADE_OF_A_SKILL,
    ) as typeof offered.parameters;
    expect(Object.keys(offered.parameters.properties ?? {})).toEqual(Object.keys(properties ?? {}));
    expect(offered.parameters.required).toEqual(required);
  }
});

test("L2: what the reduced schema leaves out is still checked", async () => {
  const read = (await tools()).find(({ name }) => name === "read");
  if (!read) throw new Error("there is no tool 'read'");
  for (const args of [
    { path: "x".repeat(5_000) },
    { path: "a", node: "NOT A NAME" },
    { path: "a", other: 1 },
    { path: "" },
  ])
    expect(parseArguments(read, args)).toMatchObject({ ok: false });
  expect(parseArguments(read, { path: "a" })).toMatchObject({ ok: true });
});

describe("by llama.cpp's own rules", { tags: ["needs/llama-cpp"] }, () => {
  const text = (more: object) => [
    { name: "t", parameters: { type: "object", properties: { x: { type: "string", ...more } } } },
  ];

  test("L2: its parser refuses a length of 2001, and patterns that its grammar does not have", () => {
    expect(llamaGrammar(text({ maxLength: 200 })).takes(callText("t", { x: "yes" }))).toBe(true);
    expect(() => llamaGrammar(text({ maxLength: 2_001 }))).toThrow("Failed to parse grammar");
    expect(() => llamaGrammar(text({ pattern: "^gpiochip\\d{1,3}$" }))).toThrow("Failed to parse grammar");
    expect(() => llamaGrammar(text({ pattern: "^/" }))).toThrow("Pattern must start with");
  });

  test("L2: it refuses these tools with their whole schemas, and takes all of them as a model gets them", async () => {
    const all = await tools();
    const whole = all.map(({ name, input }) => ({ name, parameters: jsonSchema(input) }));
    // Each of them would be enough for llama.cpp to refuse the request. Its parser writes what it refuses to standard error.
    for (const name of ["read", "bash", "gpio_read"])
      expect(() => llamaGrammar(whole.filter((tool) => tool.name === name)), name).toThrow();
    const grammar = llamaGrammar(new ToolRegistry(all).definitions().map((offered) => offered.function));
    expect(grammar.takes(callText("read", { path: "/etc/hosts", offset: 3 }))).toBe(true);
    expect(grammar.takes(callText("gpio_write", { pin: 17, value: 1, hold_ms: 500 }))).toBe(true);
    expect(grammar.takes(callText("of_a_skill", { room: "attic", level: 0.25 }))).toBe(true);
    expect(grammar.takes(callText("of_a_skill", { room: "cellar" }))).toBe(false);
    expect(grammar.takes(callText("read", { offset: 3 }))).toBe(false);
  });
});
