import { tokensBeside } from "@edgecall/core/loop/tokens.ts";
import { faultResult, textResult } from "@edgecall/core/tools/contract.ts";
import { afterEach, expect, test } from "vitest";
import { until } from "../../test/wait.ts";
import { memoryLog, Peer, readyAgent, startBroker, testSettings } from "../testing/home.ts";
import { type ModelAnswer, type ModelRequest, startModel } from "../testing/model.ts";
import { probe } from "../testing/tools.ts";
import { PI_ZERO_2W, tree } from "../testing/tree.ts";

const open: Array<{ stop(): Promise<void> }> = [];
afterEach(async () => {
  for (const one of open.splice(0).reverse()) await one.stop();
});

async function home(
  answer: (request: ModelRequest, count: number) => ModelAnswer | Promise<ModelAnswer>,
  more: {
    maxPrompts?: number;
    tools?: ReturnType<typeof probe>[];
    told?: Record<string, unknown>;
    maxTokens?: number;
  } = {},
) {
  const broker = await startBroker();
  open.push(broker);
  const peer = await Peer.connect(broker.port);
  open.push(peer);
  const model = await startModel(answer, more.told);
  open.push(model);
  const settings = testSettings(broker.port, {
    root: tree(PI_ZERO_2W),
    llm: { baseUrl: model.baseUrl, model: "scripted", maxTokens: more.maxTokens ?? 500, temperature: 0 },
    ...(more.maxPrompts !== undefined && { maxPrompts: more.maxPrompts }),
  });
  const { log } = memoryLog();
  open.push(await readyAgent(settings, { log, tools: (more.tools ?? []).map(({ tool }) => tool) }));
  const prompt = (id: string, text: string, extra: Record<string, unknown> = {}) =>
    peer.ask("eye", { command: "prompt", payload: { prompt: text }, request_id: id, ...extra });
  return { peer, model, prompt };
}

const lastText = (request: ModelRequest): string => request.messages.at(-1)?.content ?? "";

test("a question that needs two tools is answered once, with both", async () => {
  const { peer, model, prompt } = await home(({ messages }) => {
    const results = messages.filter(({ role }) => role === "tool").map(({ content }) => content);
    if (results.length === 0) {
      return {
        calls: [
          { name: "disk", args: { path: "/" } },
          { name: "list_processes", args: { limit: 1 } },
        ],
      };
    }
    return { text: `Combined: ${results.map((text) => text?.split("\n")[0]).join(" | ")}` };
  });
  const report = await prompt("q", "How full is the disk, and what is busy?", { watch: true });
  expect(report.report_type).toBe("result");
  expect(report.payload).toMatchObject({
    status: "success",
    content: expect.stringMatching(/^Combined: \/ \d+% used .* \| 3 processes; the 1 with the most CPU/),
    model: "scripted",
    agent_id: "eye",
    request_id: "q",
    tools_executed: [
      { tool: "disk", success: true, result: expect.stringContaining("% used"), error: null },
      { tool: "list_processes", success: true, result: expect.stringContaining("processes"), error: null },
    ],
    calls: [
      { name: "disk", args: { path: "/" }, status: "success", elapsed_ms: expect.any(Number) },
      { name: "list_processes", status: "success" },
    ],
    metadata: { input_tokens: 22, output_tokens: 14, elapsed_ms: expect.any(Number) },
  });
  expect(peer.events("q", "accepted")).toHaveLength(1);
  expect(peer.events("q", "progress")[0]?.payload.tool).toMatch(/^(disk|list_processes)$/);
  const first = model.requests[0];
  expect(first?.messages[0]?.content).toContain("You are eye, a monitor agent");
  expect(first?.tools?.map((tool) => tool.function.name)).toContain("temperature");
  expect(first?.max_tokens).toBe(500);
});

test("the caller's system prompt, token limit and wish for no tools are respected", async () => {
  const { model, peer } = await home(() => ({ text: "hello" }));
  const payload = {
    prompt: "hi",
    system_prompt: "Speak like a pirate.",
    enable_tools: false,
    max_tokens: 33,
  };
  await peer.ask("eye", { command: "prompt", payload, request_id: "p" });
  expect(model.requests[0]).toMatchObject({ max_tokens: 33 });
  expect(model.requests[0]).not.toHaveProperty("tools");
  expect(model.requests[0]?.messages[0]?.content).toContain("Speak like a pirate.");
});

test("several prompts run at once; more wait for their turn", async () => {
  let atOnce = 0;
  let most = 0;
  const gate: Array<() => void> = [];
  const { prompt } = await home(
    async (request) => {
      atOnce += 1;
      most = Math.max(most, atOnce);
      await new Promise<void>((resolve) => gate.push(resolve));
      atOnce -= 1;
      return { text: `answer to ${lastText(request)}` };
    },
    { maxPrompts: 2 },
  );
  const answers = ["a", "b", "c", "d"].map((name) => prompt(name, name));
  for (const running of [2, 2, 2, 1]) {
    await until(() => gate.length === running);
    gate.shift()?.();
  }
  const contents = (await Promise.all(answers)).map(({ payload }) => payload.content);
  expect(contents).toEqual(["answer to a", "answer to b", "answer to c", "answer to d"]);
  expect(most).toBe(2);
});

test("a prompt that waits too long for its turn is refused, and asks no model", async () => {
  const held = Promise.withResolvers<void>();
  const { prompt, peer, model } = await home(
    async () => {
      await held.promise;
      return { text: "first" };
    },
    { maxPrompts: 1 },
  );
  const first = prompt("first", "one");
  await until(() => model.requests.length === 1);
  const { payload } = await prompt("second", "two", { expires_in_ms: 200 });
  expect(payload).toMatchObject({
    status: "error",
    error: "Error: The prompt was not answered: its time was over.",
    error_type: "timeout",
    agent_id: "eye",
    request_id: "second",
    metadata: { elapsed_ms: expect.any(Number) },
  });
  held.resolve();
  expect((await first).payload.content).toBe("first");
  expect(model.requests).toHaveLength(1);
  expect(peer.reports("second")).toHaveLength(1);
});

test("cancel stops a prompt during a tool, and reports what ran", async () => {
  const held = probe("held", { holds: true });
  const { peer } = await home(() => ({ calls: [{ name: "held", args: {} }] }), { tools: [held] });
  await peer.command("eye", { command: "prompt", payload: { prompt: "go" }, request_id: "p" });
  await until(() => held.runs.length === 1);
  await peer.ask("eye", { command: "cancel", payload: { request_id: "p" }, request_id: "c" });
  const [report] = await until(() => peer.reports("p").length && peer.reports("p"));
  expect(report?.payload).toMatchObject({
    status: "error",
    error: "Error: The prompt was not answered: it was cancelled.",
    calls: [{ name: "held", status: "error" }],
  });
});

test("C10 a failed inner call's text in the report contains no advice for a model", async () => {
  const said = "Error: Pressure is 3 bar.\nDo not open the valve.";
  const valve = probe("valve", {
    execute: () => Promise.resolve(faultResult("io", said)),
  });
  const { prompt } = await home(
    (_, count) => (count === 1 ? { calls: [{ name: "valve", args: {} }] } : { text: "It is shut." }),
    { tools: [valve] },
  );
  const { payload } = await prompt("p", "the valve?");
  expect(payload.calls).toMatchObject([
    { name: "valve", status: "error", error: said.slice("Error: ".length), advice: "" },
  ]);
});

test("unreadable arguments go back to the model as such", async () => {
  const { prompt, model } = await home(({ messages }, count) => {
    if (count === 1) return { calls: [{ name: "disk", args: { pfad: "/" } }] };
    return { text: messages.at(-1)?.content ?? "" };
  });
  const { payload } = await prompt("p", "disk?");
  expect(payload.content).toContain("Error: Invalid parameters for 'disk'");
  expect(payload.tools_executed).toMatchObject([{ tool: "disk", success: false, result: null }]);
  expect(model.requests).toHaveLength(2);
});

test("an unreachable model is reported in words", async () => {
  const { prompt, model } = await home(() => ({ text: "never" }));
  await model.stop();
  const { payload } = await prompt("p", "hi", { expires_in_ms: 1_500 });
  expect(payload).toMatchObject({ status: "error", agent_id: "eye", error_type: expect.any(String) });
  expect(payload.error).toMatch(/^Error: The (agent's model gave no answer|prompt was not answered)/);
});

test("without a model: EvoClaw's text, and what can be called instead", async () => {
  const broker = await startBroker();
  open.push(broker);
  const peer = await Peer.connect(broker.port);
  open.push(peer);
  const { log } = memoryLog();
  open.push(await readyAgent(testSettings(broker.port), { log }));
  const { payload } = await peer.ask("eye", {
    command: "prompt",
    payload: { prompt: "hi" },
    request_id: "p",
  });
  expect(payload).toMatchObject({
    status: "error",
    error: expect.stringMatching(/^LLM client not configured\. Set LLM_BASE_URL.*cpu, disk, list_processes/),
    actions: expect.arrayContaining(["temperature"]),
    request_id: "p",
  });
  expect(await peer.ask("eye", { command: "prompt", payload: {}, request_id: "q" })).toMatchObject({
    report_type: "error",
    payload: { error: "missing prompt" },
  });
});

test("L15: an answer for which the model called no tool says so, in the record too", async () => {
  const { peer, prompt } = await home(({ messages }) =>
    messages.some(({ role }) => role === "tool") || !lastText({ messages } as ModelRequest).includes("disk")
      ? { text: "Done!" }
      : { calls: [{ name: "disk", args: { path: "/" } }] },
  );
  expect((await prompt("none", "Delete the old logs.")).payload).toMatchObject({
    status: "success",
    content: "Done!",
    calls: [],
    asked: false,
  });
  expect((await prompt("one", "How full is the disk?")).payload).not.toHaveProperty("asked");
  const recent = { command: "get_metrics", payload: { recent: 10 }, request_id: "m" };
  const { payload } = await peer.ask("eye", recent);
  expect(JSON.stringify(payload)).toContain('"tool":"prompt"');
});

const OLLAMA = { models: [{ model: "scripted", name: "scripted", context_length: 12_288 }] };

test("L16: the loop keeps within the window of a local Ollama: a long result is cut to it, and the reply has room", async () => {
  const long = Array.from({ length: 3_000 }, (_, n) => `line ${n} of the log`).join("\n");
  const log = probe("big_log", { execute: async () => textResult(long) });
  const { model, prompt } = await home(
    ({ messages }) => {
      const results = messages.filter(({ role }) => role === "tool").length;
      return results < 3 ? { calls: [{ name: "big_log", args: {} }] } : { text: `read ${results} times` };
    },
    { tools: [log], told: { "/api/ps": OLLAMA }, maxTokens: 4_096 },
  );
  const report = await prompt("big", "What does the log say?");
  expect(report.payload).toMatchObject({ status: "success", content: "read 3 times" });
  expect(model.requests).toHaveLength(4);
  for (const { messages, tools, max_tokens = 0 } of model.requests) {
    expect(max_tokens).toBeGreaterThanOrEqual(3_072);
    const sent = tokensBeside(
      messages.map(({ content }) => content ?? ""),
      tools ?? [],
    );
    expect(sent + max_tokens).toBeLessThanOrEqual(12_288 * 1.05);
  }
  const results = model.requests.at(-1)?.messages.filter(({ role }) => role === "tool") ?? [];
  for (const { content } of results)
    expect(content).toMatch(/^line 0 of[\s\S]*more characters do not fit the model's window/);
});

test("L13: a prompt that the device's model refuses as too long is shortened once, and else names what to set", async () => {
  const words = "request (19185 tokens) exceeds the available context size (2048 tokens), try increasing it";
  const long = "word ".repeat(4_000);
  const log = probe("big_log", { execute: async () => textResult(long) });
  let refuses = 1;
  const { model, prompt } = await home(
    ({ messages }) => {
      if (!messages.some(({ role }) => role === "tool")) return { calls: [{ name: "big_log", args: {} }] };
      refuses -= 1;
      return refuses >= 0 ? { status: 400, error: words } : { text: "done" };
    },
    { tools: [log], maxTokens: 500 },
  );
  expect((await prompt("once", "What?")).payload).toMatchObject({ status: "success", content: "done" });
  const [first = 0, second = 0] = model.requests
    .slice(1)
    .map(({ messages }) => JSON.stringify(messages).length);
  expect(second).toBeLessThan(first / 2);
  refuses = 9;
  const asked = model.requests.length;
  const { payload } = await prompt("never", "What?");
  expect(payload.error).toContain("About 19,185 tokens were sent, and the model takes 2,048 tokens.");
  expect(payload.error).not.toContain("HISTORY_MAX_TOKENS");
  expect(model.requests.length - asked).toBe(3);
});
