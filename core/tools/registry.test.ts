import { expect, test } from "vitest";
import { z } from "../protocol/parse.ts";
import { defineTool, type Tool, textResult } from "./contract.ts";
import { ToolRegistry } from "./registry.ts";

const tool = (name: string, description = `Does ${name}`): Tool =>
  defineTool({
    name,
    description,
    input: z.strictObject({
      path: z.string().check(z.describe("Where")),
      limit: z._default(z.int().check(z.minimum(1), z.maximum(9)), 5),
      tag: z.optional(z.string()),
    }),
    effect: "read",
    idempotent: true,
    timeoutMs: 1_000,
    maxTimeoutMs: 1_000,
    execute: async () => textResult(name),
  });

test("sorted by name, in whatever order they were registered", () => {
  const one = new ToolRegistry([tool("write"), tool("Bash"), tool("read")]);
  const other = new ToolRegistry([tool("read"), tool("write"), tool("Bash")]);
  expect(one.list()).toEqual(["Bash", "read", "write"]);
  expect(one.all().map(({ name }) => name)).toEqual(one.list());
  expect(one.count()).toBe(3);
  expect(JSON.stringify(one.definitions())).toBe(JSON.stringify(other.definitions()));
});

test("register makes a new set; the old one, which a turn may hold, is unchanged", () => {
  const before = new ToolRegistry([tool("read")]);
  const after = before.register(tool("bash"));
  expect(before.list()).toEqual(["read"]);
  expect(after.list()).toEqual(["bash", "read"]);
});

test("the last tool of a name wins", () => {
  const registry = new ToolRegistry([tool("read", "old"), tool("read", "new")]);
  expect(registry.get("read")?.description).toBe("new");
  expect(registry.register(tool("read", "newest")).get("read")?.description).toBe("newest");
  expect(registry.count()).toBe(1);
});

test("an unknown name", () => {
  const registry = new ToolRegistry();
  expect(registry.get("constructor")).toBeUndefined();
  expect(registry.definitions()).toEqual([]);
  expect(registry.summaries()).toEqual([]);
});

test("summaries for people", () => {
  expect(new ToolRegistry([tool("read_file", "Read file contents")]).summaries()).toEqual([
    "- `read_file` - Read file contents",
  ]);
});

test("definitions for the model: in the form that every endpoint takes, and what has a default is not required", () => {
  expect(new ToolRegistry([tool("read")]).definitions()).toEqual([
    {
      type: "function",
      function: {
        name: "read",
        description: "Does read",
        parameters: {
          type: "object",
          properties: {
            path: { type: "string", description: "Where" },
            limit: { type: "integer", description: "default 5", minimum: 1, maximum: 9 },
            tag: { type: "string" },
          },
          required: ["path"],
        },
      },
    },
  ]);
});

test("an unlisted tool is found by its whole name, and is not offered", () => {
  const old = tool("greet", "The old one");
  const registry = new ToolRegistry([tool("greet")], new Map([["greet@1.0.0", old]])).register(tool("read"));
  expect(registry.get("greet@1.0.0")).toBe(old);
  expect(registry.get("greet")).not.toBe(old);
  expect(registry.list()).toEqual(["greet", "read"]);
  expect(registry.count()).toBe(2);
  expect(JSON.stringify([registry.definitions(), registry.summaries()])).not.toContain("The old one");
});
