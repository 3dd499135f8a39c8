/** The loop's cases (test/cases/loop.json): the loop and the runner with a scripted model. */
import { readFileSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import { expect, test } from "vitest";
import { z } from "../protocol/parse.ts";
import {
  defineTool,
  faultResult,
  sharedResult,
  type Tool,
  textResult,
  toolResultText,
} from "../tools/contract.ts";
import { errorTypeOf } from "../tools/errors.ts";
import { ToolRegistry } from "../tools/registry.ts";
import { runTool } from "../tools/runner.ts";
import type { Call, Outcome } from "./history.ts";
import type { ChatMessage } from "./messages.ts";
import { ModelLimits } from "./model-limits.ts";
import type { ModelReply } from "./model-reply.ts";
import { DEFAULT_LIMITS } from "./next.ts";
import { runLoop } from "./run.ts";

type ToolCase = { delayMs?: number; text?: string; silent?: boolean; throws?: string };
type Case = {
  id: string;
  given: {
    tools?: Record<string, ToolCase>;
    before?: Record<string, { block: boolean; reason: string }>;
    maxIterations?: number;
    registered?: string[];
  };
  input: { calls?: Array<[id: string, name: string, args: Record<string, unknown>]>; prompt?: string };
  expect: {
    results?: Array<[id: string, text: string]>;
    maxMs?: number;
    errors?: Record<string, string>;
    textIncludes?: string[];
    executed?: string[];
    iterations?: number;
    finalTextNotEmpty?: boolean;
    toModel?: string;
    toUser?: null;
    order?: string[];
  };
};

const CASES = JSON.parse(
  readFileSync(new URL("../../test/cases/loop.json", import.meta.url), "utf8"),
) as Case[];
/** A job needs a device that runs it: pi-agent/calls/jobs.test.ts. */
const ELSEWHERE = ["loop/async"];
/** A loaded machine is sometimes slow; one fast attempt is enough. */
const ATTEMPTS = 10;

test.each(CASES.filter(({ id }) => !ELSEWHERE.includes(id)))("$id", async (one) => {
  const { expect: wanted } = one;
  let ran = await play(one);
  for (let again = 1; again < ATTEMPTS && ran.ms > (wanted.maxMs ?? Infinity); again += 1)
    ran = await play(one);
  expect(ran.ms).toBeLessThan(wanted.maxMs ?? Infinity);
  if (wanted.results) {
    expect(ran.toModel).toEqual(wanted.results);
    // In the order of the calls, although the second ended first.
    expect(ran.ended).toEqual(wanted.results.map(([id]) => id).toReversed());
  }
  if (wanted.errors) expect(Object.fromEntries(ran.codes)).toEqual(wanted.errors);
  for (const part of wanted.textIncludes ?? [])
    expect(ran.toModel.map(([, text]) => text).join("\n")).toContain(part);
  if (wanted.executed) expect(ran.executed).toEqual(wanted.executed);
  if (wanted.iterations !== undefined)
    expect(ran.offered.filter(({ length }) => length > 0)).toHaveLength(wanted.iterations);
  if (wanted.finalTextNotEmpty) expect(ran.text.trim()).not.toBe("");
  if (wanted.toModel !== undefined) expect(ran.toModel).toEqual([["1", wanted.toModel]]);
  if (wanted.toUser === null) expect(ran.outcomes.map(({ forUser }) => forUser)).toEqual([undefined]);
  if (wanted.order) expect(ran.offered[0]).toEqual(wanted.order);
});

test("a result that is not silent reaches the person too", async () => {
  const ran = await play({
    id: "",
    given: { tools: { a: { text: "for both" } } },
    input: { calls: [["1", "a", {}]] },
    expect: {},
  });
  expect(ran.outcomes).toMatchObject([{ text: "for both", forUser: "for both" }]);
});

async function play({ given, input }: Case) {
  const executed: string[] = [];
  const ended: string[] = [];
  const codes = new Map<string, string>();
  const outcomes: Outcome[] = [];
  const offered: string[][] = [];
  let told: ChatMessage[] = [];
  const tools = [
    ...Object.entries(given.tools ?? {}).map(([name, tool]) => toolOf(name, tool, executed)),
    ...(given.registered ?? []).map((name) => toolOf(name, {}, executed)),
  ];
  const registry = new ToolRegistry(tools);
  const startedAt = performance.now();
  const { text } = await runLoop({
    system: "s",
    prompt: input.prompt ?? "p",
    tools: registry.definitions(),
    limits: { ...DEFAULT_LIMITS, ...(given.maxIterations && { maxModelCalls: given.maxIterations }) },
    fit: {
      model: { baseUrl: "https://model.example/v1", model: "m", maxTokens: 100, temperature: 0 },
      limits: new ModelLimits(),
    },
    signal: new AbortController().signal,
    async model({ messages, tools: list }) {
      offered.push(list.map((tool) => tool.function.name));
      told = messages;
      // With a prompt in place of calls, the model repeats the same call forever, even when it is offered no tools.
      const calls = input.prompt !== undefined ? [["", "a", {}] as const] : (input.calls ?? []);
      return offered.length === 1 || input.prompt !== undefined ? asking(calls) : { ...REPLY, text: "ok" };
    },
    async runCall(call) {
      const outcome = await run(call, registry, given, codes);
      ended.push(call.modelCallId);
      outcomes.push(outcome);
      return outcome;
    },
  });
  const ms = performance.now() - startedAt;
  const toModel = told.flatMap((message) =>
    message.role === "tool" ? [[message.tool_call_id, message.content] as [string, string]] : [],
  );
  return { text, ms, toModel, executed, ended, codes, outcomes, offered };
}

async function run(
  call: Call,
  registry: ToolRegistry,
  { before }: Case["given"],
  codes: Map<string, string>,
): Promise<Outcome> {
  const caller = { principal: "test", role: "owner", channel: "test" };
  const { result, elapsedMs } = await runTool(
    registry,
    { callId: call.id, name: call.name, args: call.args, caller },
    {
      policy({ name }) {
        const rule = before?.[name];
        return rule?.block ? faultResult("blocked", rule.reason) : undefined;
      },
    },
  );
  if (result.fault) codes.set(call.modelCallId, result.fault.code);
  return {
    status: result.fault ? "error" : "success",
    text: toolResultText(result),
    ...(result.forUser !== undefined && { forUser: result.forUser }),
    ...(result.fault && { errorType: errorTypeOf(result.fault.code) }),
    elapsedMs,
  };
}

function toolOf(
  name: string,
  { delayMs = 0, text = "", silent, throws }: ToolCase,
  executed: string[],
): Tool {
  return defineTool({
    name,
    description: name,
    input: z.strictObject({}),
    effect: "read",
    idempotent: true,
    timeoutMs: 5_000,
    maxTimeoutMs: 5_000,
    async execute() {
      executed.push(name);
      if (throws !== undefined) throw new Error(throws);
      await pause(delayMs);
      return silent ? textResult(text) : sharedResult(text);
    },
  });
}

const REPLY: ModelReply = { text: "", calls: [], model: "m", usage: undefined, finish: "stop" };

function asking(calls: ReadonlyArray<readonly [string, string, object]>): ModelReply {
  return {
    ...REPLY,
    calls: calls.map(([id, name, args]) => ({
      id: id || undefined,
      name,
      rawArguments: JSON.stringify(args),
    })),
  };
}
