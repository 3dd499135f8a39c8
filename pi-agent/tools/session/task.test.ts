import { readFileSync } from "node:fs";
import { dirname } from "node:path";
import { NO_TOOL_CALLED } from "@edgecall/core/loop/history.ts";
import type { ModelSettings } from "@edgecall/core/loop/request.ts";
import { approvalHash } from "@edgecall/core/protocol/approval.ts";
import type { Tool } from "@edgecall/core/tools/contract.ts";
import { afterEach, expect, test } from "vitest";
import { until } from "../../../test/wait.ts";
import { callTool } from "../../testing/call.ts";
import { type House, house, rules } from "../../testing/house.ts";
import type { ModelAnswer, ModelRequest } from "../../testing/model.ts";
import { testing } from "../../testing/test-tools.ts";
import { probe } from "../../testing/tools.ts";
import { question } from "./question.ts";
import { offered, task, taskMissing } from "./task.ts";

const LIMITS = { maxModelCalls: 5, maxFailedBatches: 3, maxParallel: 5 };
/** No session is kept. */
const NOWHERE = { stateDir: "/nowhere" };
const houses: House[] = [];
afterEach(async () => {
  for (const one of houses.splice(0)) await one.stop();
});

const isSub = (request: ModelRequest) =>
  request.messages[0]?.content?.includes("You are given one task") === true;
const results = (request: ModelRequest) =>
  request.messages.filter(({ role }) => role === "tool").map(({ content }) => content ?? "");

/** A house whose agent has `task`; its own model calls it once, `sub` plays the sub-agent's. */
async function home(sub: (request: ModelRequest) => ModelAnswer | Promise<ModelAnswer>, policy = {}) {
  const requests: ModelRequest[] = [];
  const one = await house((request) => {
    requests.push(request);
    if (isSub(request)) return sub(request);
    const [given] = results(request);
    return given === undefined
      ? { calls: [{ name: "task", args: { prompt: "Look at the probe." } }] }
      : { text: `The task said: ${given}` };
  });
  houses.push(one);
  const look = probe("look");
  const llm: ModelSettings = { baseUrl: one.baseUrl, model: "scripted", maxTokens: 100, temperature: 0 };
  const tools: Tool[] = [look.tool, ...testing({ file: one.marks }), question()];
  tools.push(task({ llm, limits: LIMITS, tools }, { stateDir: dirname(one.marks) }));
  await one.start({ tools, policy: rules(policy) });
  return { ...one, look, requests };
}

test("it has its own history and fewer tools; its calls are recorded, and its answer is returned", async () => {
  const { prompt, result, look, requests } = await home((request) =>
    results(request).length === 0
      ? { calls: [{ name: "look", args: { value: "there" } }] }
      : { text: `seen: ${results(request).join()}` },
  );
  const report = await result(await prompt("What does the probe say? A secret of the conversation."));
  expect(report).toMatchObject({
    status: "success",
    content: "The task said: seen: look ran with there",
    calls: [
      {
        name: "task",
        status: "success",
        result: "seen: look ran with there",
        calls: [{ name: "look", args: { value: "there" }, status: "success", result: "look ran with there" }],
      },
    ],
  });
  expect(look.runs).toEqual(["there"]);
  const subs = requests.filter(isSub);
  expect(subs).toHaveLength(2);
  expect(JSON.stringify(subs)).not.toContain("A secret of the conversation");
  expect(subs[0]?.messages.at(-1)?.content).toBe("Look at the probe.");
  const names = subs[0]?.tools?.map((it) => it.function.name) ?? [];
  expect(names).toContain("look");
  expect(names).not.toContain("task");
  expect(names).not.toContain("question");
});

test("one level deep: a sub-agent that calls task or question gets the list of its tools", async () => {
  const { prompt, result, requests } = await home((request) =>
    results(request).length === 0
      ? {
          calls: [
            { name: "task", args: { prompt: "again" } },
            { name: "question", args: { question: "May I?" } },
          ],
        }
      : { text: "gave up" },
  );
  expect(await result(await prompt("go"))).toMatchObject({ content: "The task said: gave up" });
  const told = results(requests.filter(isSub)[1] as ModelRequest);
  expect(told).toEqual([
    expect.stringMatching(
      /^Error: Tool 'task' not found\. Available tools: append, (?!.*(task|question|todo))/,
    ),
    expect.stringContaining("Tool 'question' not found"),
  ]);
});

test("the policy applies to each of its calls: one that is not a read asks, and runs after approval", async () => {
  const {
    prompt,
    question: asked,
    answer,
    result,
    marks,
  } = await home((request) =>
    results(request).length === 0
      ? { calls: [{ name: "append", args: {} }] }
      : { text: results(request).join() },
  );
  const id = await prompt("go");
  const { question_id, approval } = await asked(id);
  expect(approval).toMatchObject({ tool: "append", parameters: {} });
  await answer(question_id, "approve", {});
  // An approval without the hash of what was shown is not valid.
  const refused = await result(id);
  expect(refused).toMatchObject({ calls: [{ name: "task", calls: [{ name: "append", status: "error" }] }] });

  const second = await prompt("go");
  const again = await asked(second);
  const hash = await approvalHash("eye", "append", {}, undefined);
  expect(again.approval?.hash).toBe(hash);
  const sent = { question_id: again.question_id, answer: "approve", hash };
  const { peer } = houses[0] as House;
  await peer.ask("eye", { command: "answer", payload: sent, request_id: "yes" });
  expect(await result(second)).toMatchObject({ content: expect.stringMatching(/^The task said: appended /) });
  expect(readFileSync(marks, "utf8").trim().split("\n")).toHaveLength(1);
});

test("it gets no tool that the policy denies", async () => {
  const { prompt, result, look } = await home(
    (request) =>
      results(request).length === 0
        ? { calls: [{ name: "look", args: {} }] }
        : { text: results(request).join() },
    { look: "deny" },
  );
  expect(await result(await prompt("go"))).toMatchObject({
    content: expect.stringContaining("Error: Permission denied for tool 'look'"),
  });
  expect(look.runs).toEqual([]);
});

test("called by name, it reports its calls too", async () => {
  const { tool, result } = await home((request) =>
    results(request).length === 0 ? { calls: [{ name: "look", args: {} }] } : { text: "done" },
  );
  expect(await result(await tool("task", { prompt: "Look." }))).toMatchObject({
    status: "success",
    result: "done",
    calls: [{ name: "look", status: "success" }],
  });
});

test("a cancel ends it, with what it had done until then", async () => {
  const gate = Promise.withResolvers<void>();
  const { send, tool, prompt, result, requests } = await home(async (request) => {
    if (results(request).length === 0) return { calls: [{ name: "look", args: {} }] };
    await gate.promise;
    return { text: "too late" };
  });
  const id = await tool("task", { prompt: "Look." });
  await until(() => requests.length === 2);
  await send("cancel", { request_id: id });
  expect(await result(id)).toMatchObject({
    status: "error",
    code: "aborted",
    error: expect.stringContaining("It had called: look (success)."),
    calls: [{ name: "look", status: "success" }],
  });

  const prompted = await prompt("go");
  await until(() => requests.length === 5);
  await send("cancel", { request_id: prompted });
  expect(await result(prompted)).toMatchObject({
    status: "error",
    calls: [{ name: "task", status: "error", calls: [{ name: "look", status: "success" }] }],
  });
  gate.resolve();
});

test("without a model, or where a tool can call no other, it says so", async () => {
  const llm: ModelSettings = { baseUrl: "http://127.0.0.1:9/v1", model: "m", maxTokens: 1, temperature: 0 };
  const without = task({ llm: undefined, limits: LIMITS, tools: [] }, NOWHERE);
  expect(await callTool(without, { prompt: "x" })).toMatchObject({
    code: "unavailable",
    text: "Error: Tool 'task' cannot run: no model: set LLM_BASE_URL and LLM_MODEL, or [llm] in agent.toml.\nDo the work yourself, step by step.",
  });
  const nested = task({ llm, limits: LIMITS, tools: [] }, NOWHERE);
  expect((await callTool(nested, { prompt: "x" })).text).toContain("a task cannot give a task");
  expect(await taskMissing(llm)).toBeUndefined();
});

test("a tool that runs alone is not offered to it, because each would wait for the other", () => {
  const [plain, alone] = [probe("plain").tool, probe("alone", { runs: "alone" }).tool];
  expect(offered([plain, alone]).list()).toEqual(["plain"]);
});

test("L15: a sub-agent that called no tool is told apart from one that did", async () => {
  const { prompt, result } = await home(() => ({ text: "Done!" }));
  const report = await result(await prompt("Look at the probe."));
  expect(report.content).toBe(`The task said: [${NO_TOOL_CALLED}]\nDone!`);
  expect(report.calls).toMatchObject([{ name: "task", result: "Done!", asked: false }]);
});
