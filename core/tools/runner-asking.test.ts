import { expect, test } from "vitest";
import { z } from "../protocol/parse.ts";
import { defineTool, jobResult, type Tool, textOf, textResult, Unanswered } from "./contract.ts";
import { ToolRegistry } from "./registry.ts";
import { type RunRequest, runTool } from "./runner.ts";

const CALLER = { principal: "ada", role: "owner", channel: "test" };

function tool(execute: Tool["execute"], more: Partial<Tool> = {}): Tool {
  const input = z.strictObject({});
  const base = { name: "t", description: "T", input, effect: "device" as const, idempotent: false };
  return { ...defineTool({ ...base, timeoutMs: 20, maxTimeoutMs: 1_000, execute }), ...more };
}

const run = (it: Tool, more: Partial<RunRequest> = {}) =>
  runTool(new ToolRegistry([it]), { callId: "c", name: "t", args: {}, caller: CALLER, ...more });

const asking = tool(async (_input, { ask }) =>
  textResult(`heard ${await ask({ text: "Which?", options: ["a", "b"] })}`),
);

test("a tool asks, and its time-out stops meanwhile", async () => {
  const asked: unknown[] = [];
  const { result } = await run(asking, {
    ask: async (question) => {
      asked.push(question);
      // Longer than the tool's own time-out, because that is tested.
      await new Promise((resolve) => setTimeout(resolve, 60));
      return "a";
    },
  });
  expect(asked).toEqual([{ text: "Which?", options: ["a", "b"] }]);
  expect(textOf(result)).toBe("heard a");
});

test("after the answer the time-out continues", async () => {
  const slow = tool(async (_input, { ask }) => {
    await ask({ text: "Go on?" });
    return await new Promise(() => {});
  });
  const { result } = await run(slow, { ask: async () => "yes" });
  expect(result.fault?.code).toBe("timeout");
});

test("a question without an answer is a fault, unless the tool handles that", async () => {
  const ask = async () => {
    throw new Unanswered("Error: Nobody answered.");
  };
  expect((await run(asking, { ask })).result.fault).toMatchObject({
    code: "unanswered",
    message: "Error: Nobody answered.",
  });
  const careful = tool(async (_input, context) =>
    textResult(await context.ask({ text: "?" }).catch(() => "the default")),
  );
  expect(textOf((await run(careful, { ask })).result)).toBe("the default");
});

test("a cancel ends a call that waits for an answer", async () => {
  const control = new AbortController();
  const ask = (_question: unknown, signal: AbortSignal) =>
    new Promise<string>((_resolve, reject) => {
      signal.addEventListener("abort", () => reject(new Unanswered("over")));
      control.abort();
    });
  expect((await run(asking, { ask, signal: control.signal })).result.fault?.code).toBe("aborted");
});

test("where no person can be asked and no job can continue, that is said", async () => {
  const { result } = await run(asking);
  expect(result.fault).toMatchObject({ code: "unanswered", message: expect.stringContaining("nobody here") });
  const long = tool(async (_input, { job }) => job(async () => textResult("later"), { maxMs: 1 }));
  expect((await run(long)).result.fault?.code).toBe("unavailable");
  expect((await run(long, { job: () => jobResult("accepted", "token") })).result).toMatchObject({
    job: "token",
  });
});

test("a tool calls another, and its time-out stops meanwhile", async () => {
  const outer = tool(async (_input, { call }) => {
    const inner = await call?.({ callId: "inner", name: "other", args: { x: 1 } });
    return textResult(`got ${inner && textOf(inner.result)}`);
  });
  const made: unknown[] = [];
  const { result } = await run(outer, {
    call: async (inner) => {
      made.push(inner);
      // Longer than the tool's own time-out, because that is tested.
      await new Promise((resolve) => setTimeout(resolve, 60));
      return { result: textResult("done"), elapsedMs: 60 };
    },
  });
  expect(made).toEqual([{ callId: "inner", name: "other", args: { x: 1 } }]);
  expect(textOf(result)).toBe("got done");
});

test("a tool that can call no other learns that from its context", async () => {
  const outer = tool(async (_input, context) => textResult(String("call" in context)));
  expect(textOf((await run(outer)).result)).toBe("false");
});
