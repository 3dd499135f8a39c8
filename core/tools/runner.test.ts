import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { timersLeftBy } from "../../test/timers-left.ts";
import { z } from "../protocol/parse.ts";
import {
  defineTool,
  faultResult,
  jobResult,
  modelTextOf,
  type Tool,
  textOf,
  textResult,
} from "./contract.ts";
import { ToolRegistry } from "./registry.ts";
import { type RunEvent, type RunnerOptions, type RunRequest, runTool } from "./runner.ts";

const CALLER = { principal: "ada", role: "owner", channel: "test" };
const FOREVER = () => new Promise<never>(() => {});

const read = (more: Partial<Tool> = {}): Tool => ({
  ...defineTool({
    name: "read",
    description: "Reads",
    input: z.strictObject({
      path: z.string(),
      offset: z.optional(z.int()),
      limit: z.optional(z.number()),
      all: z.optional(z.boolean()),
      lines: z.optional(z.array(z.int())),
      env: z.optional(z.record(z.string(), z.string())),
      note: z.optional(z.nullable(z.string())),
      id: z.optional(z.union([z.string(), z.int()])),
    }),
    effect: "read",
    idempotent: true,
    timeoutMs: 5_000,
    maxTimeoutMs: 10_000,
    execute: async (input) => textResult(JSON.stringify(input)),
  }),
  ...more,
});

const bash = (execute: Tool["execute"], more: Partial<Tool> = {}): Tool =>
  read({ name: "bash", input: z.strictObject({ command: z.string() }), execute, ...more });

const run = (
  tool: Tool,
  args: Record<string, unknown>,
  more: Partial<RunRequest> = {},
  options: RunnerOptions = {},
) =>
  runTool(
    new ToolRegistry([tool]),
    { callId: "c1", name: tool.name, args, caller: CALLER, ...more },
    // Most tools here never return after an abort, and waiting for them is not tested.
    { graceMs: 5, ...options },
  );

async function textFrom(...given: Parameters<typeof run>): Promise<string> {
  return modelTextOf((await run(...given)).result);
}

describe("finding and parsing", () => {
  test("an unknown tool", async () => {
    const registry = new ToolRegistry([read(), bash(FOREVER)]);
    const { result } = await runTool(registry, { callId: "c", name: "git_status", args: {}, caller: CALLER });
    expect(result.fault?.code).toBe("unknown_tool");
    expect(modelTextOf(result)).toBe(
      "Error: Tool 'git_status' not found. Available tools: bash, read.\nPlease choose an available tool or explain to the user.",
    );
  });

  test("a missing parameter, whether left out or null", async () => {
    const tool = read({
      input: z.strictObject({ path: z.string(), offset: z.optional(z.int()), limit: z.optional(z.int()) }),
    });
    for (const args of [{}, { path: null }, { path: undefined }]) {
      const { result } = await run(tool, args);
      expect(result.fault?.code).toBe("invalid_params");
      expect(textOf(result)).toBe(
        "Error: Invalid parameters for 'read': missing 'path'.\nRequired: [path]. Optional: [offset, limit].",
      );
    }
  });

  test("a parameter of the wrong type is named", async () => {
    expect(await textFrom(read(), { path: "x", offset: 1.5 })).toMatch(
      /^Error: Invalid parameters for 'read': offset: .*\n/,
    );
  });

  test("an unknown parameter is named", async () => {
    for (const key of ["file", "__proto__", "constructor"]) {
      const args = JSON.parse(`{"path":"x","${key}":1}`);
      expect(await textFrom(read(), args)).toContain(`Unrecognized key: "${key}"`);
    }
  });

  test.each<[string, object, object]>([
    ["a number as a text", { offset: "5", limit: "1.5" }, { offset: 5, limit: 1.5 }],
    ["a truth value as a text", { all: "true" }, { all: true }],
    [
      "a list and an object as a text",
      { lines: "[1,2]", env: '{"A":"b"}' },
      { lines: [1, 2], env: { A: "b" } },
    ],
    ["null for what was left out", { offset: null, all: null }, {}],
    ["null where null may be", { note: null }, { note: null }],
    ["a text that looks like a number, where a text may be", { note: "5", id: "5" }, { note: "5", id: "5" }],
  ])("repairs %s", async (_, args, mended) => {
    expect(JSON.parse(await textFrom(read(), { path: "7", ...args }))).toEqual({ path: "7", ...mended });
  });

  test.each<[string, object]>([
    ["words for a number", { offset: "five" }],
    ["nothing for a number", { offset: "" }],
    ["a fraction for an integer", { offset: "1.5" }],
    ["a number for a truth value", { all: "1" }],
    ["a list of the wrong things", { lines: '["a"]' }],
  ])("does not guess: %s", async (_, args) => {
    expect((await run(read(), { path: "x", ...args })).result.fault?.code).toBe("invalid_params");
  });

  test("a tool's own repair comes first", async () => {
    const tool = read({ prepare: ({ file, ...rest }) => ({ path: file, ...rest }) });
    expect(await textFrom(tool, { file: "x", offset: "2" })).toBe('{"path":"x","offset":2}');
  });

  test("any arguments give a result", async () => {
    await fc.assert(
      fc.asyncProperty(fc.dictionary(fc.string(), fc.jsonValue()), async (args) => {
        const { result } = await run(read(), args);
        expect(result.content).toHaveLength(1);
      }),
    );
  });
});

describe("policy", () => {
  test("a refusal is the result, and the tool is not run", async () => {
    const asked: unknown[] = [];
    const refusal = faultResult("blocked", "Error: not here");
    const { result } = await run(
      read({ execute: () => expect.fail("was run") }),
      { path: "x", offset: "5" },
      {},
      {
        policy: (tool, input, caller) => {
          asked.push([tool.name, input, caller]);
          return refusal;
        },
      },
    );
    expect(result).toEqual(refusal);
    // It judges the repaired call, not what the model wrote.
    expect(asked).toEqual([["read", { path: "x", offset: 5 }, CALLER]]);
  });

  test("a policy that throws refuses", async () => {
    const { result } = await run(
      read({ execute: () => expect.fail("was run") }),
      { path: "x" },
      {},
      {
        policy: () => {
          throw new Error("no rules");
        },
      },
    );
    expect(textOf(result)).toBe("Error: Tool 'read' failed: no rules");
  });
});

describe("time and cancel", () => {
  test("a tool that ignores its signal times out", async () => {
    const { result, elapsedMs } = await run(bash(FOREVER), { command: "sleep 60" }, { timeoutMs: 100 });
    expect(result.fault?.code).toBe("timeout");
    expect(modelTextOf(result)).toBe(
      "Error: Tool 'bash' timed out after 0.1s. Command: 'sleep 60'.\nTry again with a shorter timeout or explain to the user.",
    );
    expect(elapsedMs).toBeGreaterThanOrEqual(99);
  });

  test("a tool without a command times out", async () => {
    expect(await textFrom(read({ execute: FOREVER }), { path: "x" }, { timeoutMs: 100 })).toBe(
      "Error: Tool 'read' timed out after 0.1s.\nTry again with a shorter timeout or explain to the user.",
    );
  });

  test("no timer outlives its call", async () => {
    const patient = read({ timeoutMs: 3_600_000, maxTimeoutMs: 3_600_000 });
    expect(await timersLeftBy(() => run(patient, { path: "x" }))).toBe(0);
  });

  test("the time-out in the arguments counts, up to the tool's own limit", async () => {
    const tool = bash(FOREVER, { timeoutIn: () => 100, timeoutMs: 60_000 });
    expect(await textFrom(tool, { command: "x" }, { timeoutMs: 30_000 })).toContain("after 0.1s");
    const limited = bash(FOREVER, { timeoutIn: () => 60_000, maxTimeoutMs: 100 });
    expect(await textFrom(limited, { command: "x" })).toContain("after 0.1s");
  });

  test("the tool's own time-out counts, and never above its maximum", async () => {
    expect(await textFrom(bash(FOREVER, { timeoutMs: 100 }), { command: "x" })).toContain("after 0.1s");
    const tool = bash(FOREVER, { maxTimeoutMs: 100 });
    expect(await textFrom(tool, { command: "x" }, { timeoutMs: 60_000 })).toContain("after 0.1s");
    expect(await textFrom(bash(FOREVER), { command: "x" }, { timeoutMs: -5 })).toContain("timed out");
  });

  test("a tool that obeys its signal gets the reason; a later exception changes nothing", async () => {
    let reason: unknown;
    const tool = bash(
      (_, { signal }) =>
        new Promise((_resolve, reject) => {
          signal.addEventListener("abort", () => {
            reason = signal.reason;
            reject(signal.reason);
          });
        }),
    );
    const { result } = await run(tool, { command: "x" }, { timeoutMs: 10 });
    expect(result.fault?.code).toBe("timeout");
    expect(reason).toMatchObject({ name: "TimeoutError" });
  });

  test("cancelled before the start: not run", async () => {
    const tool = read({ execute: () => expect.fail("was run") });
    const { result } = await run(tool, { path: "x" }, { signal: AbortSignal.abort() });
    expect(result.fault).toMatchObject({
      code: "aborted",
      message: "Error: Tool 'read' was cancelled before it started. Nothing was run.",
      advice: "Do not call it again unless the user asks.",
    });
  });

  test("cancelled while it runs", async () => {
    const cancel = new AbortController();
    let reason: unknown;
    const tool = bash(async (_, { signal }) => {
      cancel.abort("the person said stop");
      reason = signal.reason;
      return await FOREVER();
    });
    const { result } = await run(tool, { command: "x" }, { signal: cancel.signal });
    expect(result.fault?.code).toBe("aborted");
    expect(reason).toBe("the person said stop");
  });

  test("a tool's partial output", async () => {
    const heard: string[] = [];
    const tool = read({
      execute: async (_, context) => {
        context.update("half");
        return textResult(`${context.callId} for ${context.caller.principal}`);
      },
    });
    const text = await textFrom(tool, { path: "x" }, { update: (said) => heard.push(said) });
    expect(text).toBe("c1 for ada");
    expect(heard).toEqual(["half"]);
  });
});

describe("faults", () => {
  test.each<[string, Tool["execute"], string]>([
    ["rejects", async () => Promise.reject(new Error("no disk")), "Error: Tool 'read' failed: no disk"],
    [
      "throws at once",
      () => {
        throw new Error("no disk");
      },
      "Error: Tool 'read' failed: no disk",
    ],
    ["throws a text", async () => Promise.reject("no disk"), "Error: Tool 'read' failed: no disk"],
  ])("a tool that %s", async (_, execute, message) => {
    const { result } = await run(read({ execute }), { path: "x" });
    expect(result.fault).toMatchObject({ code: "tool_failed", message });
  });

  test("a tool that returns nothing", async () => {
    const execute = (async () => undefined) as unknown as Tool["execute"];
    expect((await run(read({ execute }), { path: "x" })).result.fault?.code).toBe("tool_failed");
  });

  test("a repair that throws", async () => {
    const prepare = () => {
      throw new Error("no such habit");
    };
    expect(await textFrom(read({ prepare }), { path: "x" })).toBe("Error: Tool 'read' failed: no such habit");
  });
});

describe("log", () => {
  const logged = async (tool: Tool, args: Record<string, unknown>) => {
    const events: RunEvent[] = [];
    let time = 0;
    const now = () => {
      time += 7;
      return time;
    };
    const { elapsedMs } = await run(tool, args, {}, { log: (event) => events.push(event), now });
    expect(elapsedMs).toBe(7);
    return events;
  };
  const start = { event: "tool.start", callId: "c1", tool: "read" };

  test("start and end", async () => {
    expect(await logged(read(), { path: "x" })).toEqual([
      start,
      { event: "tool.end", callId: "c1", tool: "read", ms: 7 },
    ]);
  });

  test("a job", async () => {
    const events = await logged(read({ execute: async () => jobResult("started", "j1") }), { path: "x" });
    expect(events[1]).toMatchObject({ event: "tool.end", job: "j1" });
  });

  test("an error, with its cause", async () => {
    const execute = async () => faultResult("io", "Error: no", { cause: new Error("EIO") });
    expect(await logged(read({ execute }), { path: "x" })).toEqual([
      start,
      {
        event: "tool.error",
        callId: "c1",
        tool: "read",
        ms: 7,
        code: "io",
        message: "Error: no",
        cause: "EIO",
      },
    ]);
    expect((await logged(read(), {}))[1]).toMatchObject({ event: "tool.error", code: "invalid_params" });
  });
});
