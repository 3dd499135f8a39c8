import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { until } from "../../test/wait.ts";
import { forModel } from "../tools/advice.ts";
import { permissionDenied } from "../tools/errors.ts";
import type { ToolDefinition } from "../tools/registry.ts";
import type { Call, Outcome } from "./history.ts";
import type { ChatMessage } from "./messages.ts";
import { ModelLimits } from "./model-limits.ts";
import type { ModelReply, RequestedCall } from "./model-reply.ts";
import { DEFAULT_LIMITS } from "./next.ts";
import { ModelError } from "./retry.ts";
import { assistantEntry, type LoopOptions, runLoop } from "./run.ts";

const TOOLS: ToolDefinition[] = [
  {
    type: "function",
    function: {
      name: "read",
      description: "Reads",
      parameters: { type: "object", properties: { path: {}, offset: {} }, required: ["path"] },
    },
  },
];

const base: ModelReply = {
  text: "",
  calls: [],
  model: "m",
  usage: { input_tokens: 10, output_tokens: 1 },
  finish: "stop",
};
const says = (text: string): ModelReply => ({ ...base, text });
const asks = (...names: string[]): ModelReply => ({
  ...base,
  calls: names.map(
    (path): RequestedCall => ({ id: undefined, name: "read", rawArguments: JSON.stringify({ path }) }),
  ),
});
const ok = (text: string): Outcome => ({ status: "success", text, elapsedMs: 1 });
const failed: Outcome = { status: "error", text: "Error: no", errorType: "execution_failed", elapsedMs: 1 };

const HOSTED = { baseUrl: "https://model.example/v1", model: "m", maxTokens: 100, temperature: 0 };
type Asked = { messages: ChatMessage[]; tools: ToolDefinition[] };

/** A model that gives these replies in order, and records its requests. */
function script(...steps: Array<ModelReply | Error>) {
  const asked: Asked[] = [];
  const model: LoopOptions["model"] = async ({ messages, tools }) => {
    asked.push({ messages, tools });
    const step = steps.shift() ?? expect.fail("asked more often than the script has replies");
    if (step instanceof Error) throw step;
    return step;
  };
  return { asked, model };
}

const run = (options: Pick<LoopOptions, "model"> & Partial<LoopOptions>) =>
  runLoop({
    system: "s",
    prompt: "p",
    tools: TOOLS,
    limits: DEFAULT_LIMITS,
    fit: { model: HOSTED, limits: new ModelLimits() },
    runCall: async () => ok("done"),
    signal: new AbortController().signal,
    ...options,
  });

test("an answer without tools", async () => {
  const { model, asked } = script(says("hi"));
  expect(await run({ model })).toEqual({
    turn: [
      { role: "user", text: "p" },
      { role: "assistant", text: "hi", calls: [] },
    ],
    text: "hi",
    model: "m",
    calls: [],
    usage: { input_tokens: 10, output_tokens: 1 },
    modelCalls: 1,
    metrics: {
      iterations: 1,
      calls: 0,
      success: 0,
      error: 0,
      timeout: 0,
      parallel_batches: 0,
      max_concurrency: 0,
      wall_time_saved_ms: 0,
      duration_ms: expect.any(Number),
    },
  });
  expect(asked).toEqual([
    {
      messages: [
        { role: "system", content: "s" },
        { role: "user", content: "p" },
      ],
      tools: TOOLS,
    },
  ]);
});

test("a single call: its result goes to the model, its record next to the answer", async () => {
  const { model, asked } = script(asks("x"), says("it is 7"));
  const result = await run({ model, runCall: async (call) => ok(`read ${call.args.path}`) });
  expect(asked[1]?.messages.at(-1)).toMatchObject({ role: "tool", content: "read x" });
  expect(result).toMatchObject({
    text: "it is 7",
    modelCalls: 2,
    usage: { input_tokens: 20, output_tokens: 2 },
    calls: [{ name: "read", args: { path: "x" }, status: "success", result: "read x", elapsed_ms: 1 }],
  });
});

test("at most 5 calls run at once, and keep their order however they end", async () => {
  const names = ["0", "1", "2", "3", "4", "5", "6"];
  const { model, asked } = script(asks(...names), says("ok"));
  const open = new Map<string, () => void>();
  let most = 0;
  const runCall = async (call: Call) => {
    const path = String(call.args.path);
    await new Promise<void>((resolve) => open.set(path, resolve));
    open.delete(path);
    return ok(path);
  };
  const result = run({ model, runCall });
  const end = async (path: string) => {
    const finish = await until(() => open.get(path), { what: `call ${path} runs` });
    most = Math.max(most, open.size);
    finish();
  };
  await until(() => open.size === 5, { what: "5 calls run" });
  for (const path of ["4", "5", "2", "6", "0", "1", "3"]) await end(path);
  expect((await result).calls.map((call) => call.result)).toEqual(names);
  expect(most).toBe(5);
  const results = asked[1]?.messages.filter((message) => message.role === "tool");
  expect(results?.map((message) => message.content)).toEqual(names);
  expect((await result).metrics).toMatchObject({
    iterations: 2,
    calls: 7,
    success: 7,
    parallel_batches: 1,
    max_concurrency: 5,
  });
});

describe("calls of one reply that depend on each other", () => {
  const reply = (...all: object[]): ModelReply => ({
    ...base,
    calls: all.map((args) => ({ id: undefined, name: "read", rawArguments: JSON.stringify(args) })),
  });

  test("a call gets the result of another, and the model the results in its own order", async () => {
    const ran: unknown[] = [];
    const { asked, model } = script(
      reply({ path: { $ref: "/first/result" } }, { id: "first", path: "index" }),
      says("done"),
    );
    const result = await run({
      model,
      runCall: async ({ args }) => {
        ran.push(args);
        return ok(args.path === "index" ? "/etc/hosts" : "localhost");
      },
    });
    expect(ran).toEqual([{ path: "index" }, { path: "/etc/hosts" }]);
    expect(result.calls).toMatchObject([
      { args: { path: "/etc/hosts" }, result: "localhost" },
      { args: { id: "first", path: "index" }, result: "/etc/hosts" },
    ]);
    expect(asked[1]?.messages.slice(-2)).toMatchObject([{ content: "localhost" }, { content: "/etc/hosts" }]);
  });

  test("after a failure it is not run, and says so", async () => {
    const ran: unknown[] = [];
    const { model } = script(
      reply({ id: "first", path: "index" }, { after: ["first"], path: "b" }, { after: ["none"], path: "c" }),
      says("done"),
    );
    const result = await run({
      model,
      runCall: async ({ args }) => {
        ran.push(args);
        return failed;
      },
    });
    expect(ran).toEqual([{ path: "index" }]);
    expect(result.calls).toMatchObject([
      { error_type: "execution_failed" },
      {
        error_type: "execution_failed",
        error: "Not run: it was to come after 'first', which failed. Nothing was run.",
      },
      {
        error_type: "invalid_params",
        error: "Invalid parameters for 'read': no call of this reply has the id 'none'. Nothing was run.",
      },
    ]);
  });

  test("a tool's own parameter of this name stays its own", async () => {
    const properties = { id: { type: "string" } };
    const tools = [{ ...TOOLS[0], function: { name: "read", description: "", parameters: { properties } } }];
    const ran: unknown[] = [];
    const { model } = script(reply({ id: "x y" }), says("done"));
    await run({
      model,
      tools: tools as ToolDefinition[],
      runCall: async ({ args }) => {
        ran.push(args);
        return ok("");
      },
    });
    expect(ran).toEqual([{ id: "x y" }]);
  });
});

test("three failed batches in a row end in one summary without tools", async () => {
  const { model, asked } = script(asks("a", "b"), asks("c"), asks("d"), says("It did not work."));
  const result = await run({ model, runCall: async () => failed });
  expect(result).toMatchObject({ text: "It did not work.", modelCalls: 4 });
  expect(asked.map(({ tools }) => tools.length)).toEqual([1, 1, 1, 0]);
  expect(asked[3]?.messages.at(-1)?.content).toContain("3 attempts in a row failed");
  expect(result.calls[0]).toMatchObject({
    status: "error",
    error: "no",
    error_type: "execution_failed",
  });
});

test("the same call that fails three times ends in one summary, with any calls in between", async () => {
  const { model, asked } = script(asks("a"), asks("b"), asks("a"), asks("a"), says("It did not work."));
  const runCall = async (call: Call) => (call.args.path === "a" ? failed : ok("b"));
  expect(await run({ model, runCall })).toMatchObject({ text: "It did not work.", modelCalls: 5 });
  expect(asked.map(({ tools }) => tools.length)).toEqual([1, 1, 1, 1, 0]);
  expect(asked[4]?.messages.at(-1)?.content).toContain("The same call failed 3 times.");
});

test("after ten model calls one more sums up, and calls in it are not run", async () => {
  const ten = Array.from({ length: 10 }, () => asks("x"));
  const { model, asked } = script(...ten, { ...asks("y"), text: "" });
  let ran = 0;
  const result = await run({
    model,
    runCall: async () => {
      ran += 1;
      return ok("x");
    },
  });
  expect(asked).toHaveLength(11);
  expect(asked[10]?.tools).toEqual([]);
  expect(asked[10]?.messages.at(-1)?.content).toContain("limit of 10 steps");
  expect(ran).toBe(10);
  expect(result.text).toBe("I could not sum this up.");
});

test("a call with unreadable arguments is reported to the model and not run", async () => {
  const broken: ModelReply = { ...base, calls: [{ id: "x", name: "read", rawArguments: '{"path":"x' }] };
  const { model, asked } = script(broken, says("sorry"));
  const result = await run({ model, runCall: () => expect.fail("the call was run") });
  const told =
    'Error: Invalid parameters for \'read\': the arguments are not a JSON object: {"path":"x.\nRequired: [path]. Optional: [offset].';
  expect(asked[1]?.messages.at(-1)?.content).toBe(told);
  expect(result.calls[0]).toMatchObject({
    status: "error",
    error: told.slice("Error: ".length),
    error_type: "invalid_params",
  });
});

test("C10 the record for people lacks the model's instructions; the model gets both", async () => {
  const { model, asked } = script(asks("a", "b"), says("sorry"));
  const denied = permissionDenied("read", "shell");
  const queued = {
    text: "Queued: agent 'pi' is not online. Nothing has run yet.",
    advice: "Tell the user that.",
  };
  const outcomes: Outcome[] = [
    { status: "error", ...denied, errorType: "permission_denied", elapsedMs: 1 },
    { status: "success", ...queued, job: "job-12345", elapsedMs: 1 },
  ];
  const result = await run({ model, runCall: async () => outcomes.shift() ?? failed });
  expect(asked[1]?.messages.slice(-2).map(({ content }) => content)).toEqual([
    forModel(denied),
    forModel(queued),
  ]);
  expect(result.calls[0]?.error).toBe("Permission denied for tool 'read' (requires: shell).");
  expect(result.calls[1]?.result).toBe(queued.text);
});

test("a device's inner calls stay in the record", async () => {
  const inner = [{ id: "i", name: "bash", status: "success" as const }];
  const { model } = script(asks("x"), says("ok"));
  const result = await run({ model, runCall: async () => ({ ...ok("x"), calls: inner }) });
  expect(result.calls[0]?.calls).toEqual(inner);
});

test("assistantEntry: an existing id of the conversation is not used again", () => {
  const reply: ModelReply = { ...base, calls: [{ id: "x", name: "read", rawArguments: "{}" }] };
  const first = assistantEntry(reply, [], true);
  const second = assistantEntry(reply, [first], true);
  expect(first.calls[0]?.modelCallId).toBe("x");
  expect(second.calls[0]?.modelCallId).not.toBe("x");
});

test("cancelled before the start, and between two calls", async () => {
  const { model } = script();
  const reason = new Error("stop");
  await expect(run({ model, signal: AbortSignal.abort(reason) })).rejects.toBe(reason);

  const stop = new AbortController();
  const ran: unknown[] = [];
  const limits = { ...DEFAULT_LIMITS, maxParallel: 1 };
  const runCall = async (call: Call) => {
    ran.push(call.args.path);
    stop.abort(reason);
    return ok("x");
  };
  const two = script(asks("a", "b"));
  await expect(run({ ...two, runCall, limits, signal: stop.signal })).rejects.toBe(reason);
  expect(ran).toEqual(["a"]);
});

describe("retries, on a clock that jumps from pause to pause", () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "Date"] });
    vi.setTimerTickMode("nextTimerAsync");
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  test("a temporary fault is retried", async () => {
    const { model, asked } = script(
      new ModelError("now", "broke off"),
      new ModelError("later", "busy"),
      says("hi"),
    );
    expect((await run({ model })).text).toBe("hi");
    expect(asked).toHaveLength(3);
  });

  test("a permanent error is not retried, and a temporary one not forever", async () => {
    const never = script(new ModelError("never", "no key"));
    await expect(run(never)).rejects.toThrow("no key");
    expect(never.asked).toHaveLength(1);

    const broken = script(...Array.from({ length: 5 }, () => new ModelError("now", "broke off")));
    await expect(run(broken)).rejects.toThrow("broke off");
    expect(broken.asked).toHaveLength(5);

    const bug = script(new TypeError("a bug"));
    await expect(run(bug)).rejects.toThrow("a bug");
    expect(bug.asked).toHaveLength(1);
  });

  test("cancelled in a pause", async () => {
    const reason = new Error("stop");
    for (const when of ["before", "during"]) {
      const stop = new AbortController();
      const model: LoopOptions["model"] = async () => {
        if (when === "before") stop.abort(reason);
        else setTimeout(() => stop.abort(reason), 1);
        throw new ModelError("later", "busy", { retryAfterMs: 50_000 });
      };
      const startedAt = Date.now();
      await expect(run({ model, signal: stop.signal })).rejects.toBe(reason);
      expect(Date.now() - startedAt).toBeLessThan(1_000);
    }
  });
});

describe("equal calls of one reply", () => {
  test("L14: 300 run once, each has its result, and the record names the one that ran", async () => {
    const { model, asked } = script(asks(...Array.from({ length: 300 }, () => "a")), says("ok"));
    const runCall = vi.fn(async () => ok("content"));
    const result = await run({ model, runCall });
    expect(runCall).toHaveBeenCalledTimes(1);
    const results = asked[1]?.messages.filter(({ role }) => role === "tool") ?? [];
    expect(results).toHaveLength(300);
    expect(results[0]?.content).toBe("content");
    expect(new Set(results.slice(1).map(({ content }) => content)).size).toBe(1);
    expect(result.calls).toHaveLength(300);
    expect(new Set(result.calls.slice(1).map(({ same_as }) => same_as))).toEqual(
      new Set([result.calls[0]?.id]),
    );
    expect(result.metrics.calls).toBe(1);
  });

  test("L14: a failure of equal calls counts once, so the turn is not ended by it", async () => {
    const { model, asked } = script(asks("a", "a", "a", "a"), asks("b"), says("ok"));
    const runCall = async ({ args }: Call) => (args.path === "a" ? failed : ok("b"));
    expect((await run({ model, runCall })).text).toBe("ok");
    expect(asked[1]?.tools).toHaveLength(1);
  });

  test("L14: of 100 different ones 64 run, and the model is told to go on in a further step", async () => {
    const { model, asked } = script(asks(...Array.from({ length: 100 }, (_, at) => `f${at}`)), says("ok"));
    const runCall = vi.fn(async () => ok("content"));
    await run({ model, runCall });
    expect(runCall).toHaveBeenCalledTimes(64);
    const results = asked[1]?.messages.filter(({ role }) => role === "tool") ?? [];
    expect(results.filter(({ content }) => String(content).includes("further step"))).toHaveLength(36);
  });

  test("L14: a labelled call that is repeated is one call, and others may come after it", async () => {
    const labelled = (args: object): RequestedCall => ({
      id: undefined,
      name: "read",
      rawArguments: JSON.stringify(args),
    });
    const first = labelled({ path: "a", id: "x" });
    const reply = { ...base, calls: [first, first, labelled({ path: "b", after: ["x"] })] };
    const ran: unknown[] = [];
    const runCall = async ({ args }: Call) => {
      ran.push(args.path);
      return ok("content");
    };
    await run({ model: script(reply, says("ok")).model, runCall });
    expect(ran).toEqual(["a", "b"]);
  });
});

describe("a cut reply", () => {
  test("L4: the answer says that it is cut, and by what", async () => {
    const { model } = script({ ...says("The disk is"), finish: "length" });
    const result = await run({ model });
    expect(result).toMatchObject({
      cut: "length",
      text: "The disk is\n\n[The answer was cut: the model reached MAX_TOKENS.]",
    });
  });

  test("L4: its whole calls run, and one that is cut is answered as unreadable", async () => {
    const cut: RequestedCall = { id: undefined, name: "read", rawArguments: '{"path": "b' };
    const reply = { ...asks("a"), finish: "length" };
    const { model, asked } = script({ ...reply, calls: [...reply.calls, cut] }, says("ok"));
    const runCall = vi.fn(async () => ok("content"));
    expect(await run({ model, runCall })).not.toHaveProperty("cut");
    expect(runCall).toHaveBeenCalledTimes(1);
    expect(JSON.stringify(asked[1]?.messages)).toContain("not a JSON object");
  });
});
