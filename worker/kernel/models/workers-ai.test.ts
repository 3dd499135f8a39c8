/**
 * Workers AI as the gateway's model, with a fake of its binding that answers in the known forms of Cloudflare's models.
 * The real one needs an account, and no test uses it.
 */
import { env } from "cloudflare:workers";
import { callModel } from "@edgecall/core/loop/model.ts";
import type { ModelRequest } from "@edgecall/core/loop/request.ts";
import { describe, expect, test } from "vitest";
import { setVariables } from "../../../test/variables.ts";
import { say } from "../../../test/workerd.ts";
import { readSettings } from "../settings/settings.ts";
import { DEFAULT_MODEL, WORKERS_AI_URL } from "../settings/workers-ai.ts";
import { modelFetch, type WorkersAi } from "./workers-ai.ts";

const TOOLS: ModelRequest["tools"] = [
  {
    type: "function",
    function: {
      name: "edge_call",
      description: "asks a device",
      parameters: { type: "object", properties: {} },
    },
  },
];
const SETTINGS = { baseUrl: WORKERS_AI_URL, model: DEFAULT_MODEL, maxTokens: 100, temperature: 0.5 };

type Asked = { model: string; input: Record<string, unknown> };

function double(answer: unknown): { ai: WorkersAi; asked: Asked[] } {
  const asked: Asked[] = [];
  const run: WorkersAi["run"] = async (model, input) => {
    asked.push({ model, input });
    if (answer instanceof Error) throw answer;
    return typeof answer === "function" ? answer() : answer;
  };
  return { ai: { run }, asked };
}

/** Bytes in pieces with arbitrary ends. */
function stream(...lines: string[]): ReadableStream<Uint8Array> {
  const bytes = new TextEncoder().encode(lines.map((line) => `${line}\n\n`).join(""));
  return new ReadableStream({
    start(controller) {
      for (let at = 0; at < bytes.length; at += 7) controller.enqueue(bytes.slice(at, at + 7));
      controller.close();
    },
  });
}
const data = (value: unknown) => `data: ${JSON.stringify(value)}`;
const native = (response: unknown, more: object = {}) => data({ response, ...more });

async function answerOf(answer: unknown, tools = TOOLS) {
  const { ai, asked } = double(answer);
  const texts: string[] = [];
  const reply = await callModel(
    SETTINGS,
    { messages: [{ role: "user", content: "How warm?" }], tools, onText: (text) => texts.push(text) },
    modelFetch(ai, WORKERS_AI_URL),
  );
  return { reply, asked, texts };
}

const CALL = { name: "edge_call", rawArguments: '{"agent_id":"a"}' };
const usage = { prompt_tokens: 7, completion_tokens: 3, total_tokens: 10 };

test("the model gets messages, tools and limits like any other", async () => {
  const { asked, reply } = await answerOf({ response: "21 °C", usage });
  expect(asked).toMatchObject([
    {
      model: DEFAULT_MODEL,
      input: { messages: [{ role: "user" }], tools: TOOLS, max_tokens: 100, temperature: 0.5, stream: true },
    },
  ]);
  expect(asked[0]?.input).not.toHaveProperty("model");
  expect(reply).toMatchObject({ text: "21 °C", usage: { input_tokens: 7, output_tokens: 3 } });
});

describe("a text", () => {
  test.each<[string, unknown, string]>([
    ["native, whole", { response: "21 °C" }, "21 °C"],
    ["native, a number", { response: 21 }, "21"],
    ["native, parsed as JSON", { response: { celsius: 21 } }, '{"celsius":21}'],
    ["OpenAI's, whole", { choices: [{ message: { content: "21 °C" }, finish_reason: "stop" }] }, "21 °C"],
    ["native, streamed", stream(native("21 "), native("°C"), native("", { usage }), "data: [DONE]"), "21 °C"],
    ["a stream of numbers", stream(native(2), native(1), "data: [DONE]"), "21"],
    [
      "OpenAI's, streamed",
      stream(
        ": comment",
        data({ choices: [{ delta: { content: "21 " } }] }),
        data({ choices: [{ delta: { content: "°C" }, finish_reason: "stop" }] }),
        "data: [DONE]",
      ),
      "21 °C",
    ],
    [
      "JSON that names no tool",
      stream(native('{"name":'), native('"Anna"}'), "data: [DONE]"),
      '{"name":"Anna"}',
    ],
    [
      "a Response",
      new Response(stream(native("21"), "data: [DONE]"), {
        headers: { "content-type": "text/event-stream" },
      }),
      "21",
    ],
  ])("%s", async (_name, answer, text) => {
    const { reply, texts } = await answerOf(answer);
    expect(reply).toMatchObject({ text, calls: [] });
    expect(texts.join("")).toBe(text);
  });
});

describe("a call", () => {
  const args = { agent_id: "a" };
  const inText = JSON.stringify({ type: "function", name: "edge_call", parameters: args });
  const openai = {
    id: "c1",
    type: "function",
    function: { name: "edge_call", arguments: '{"agent_id":"a"}' },
  };
  test.each<[string, unknown]>([
    ["native, whole", { response: null, tool_calls: [{ name: "edge_call", arguments: args }] }],
    [
      "native, its arguments as text",
      { response: "", tool_calls: [{ name: "edge_call", arguments: JSON.stringify(args) }] },
    ],
    [
      "native, streamed",
      stream(native("", { tool_calls: [{ name: "edge_call", arguments: args }] }), "data: [DONE]"),
    ],
    ["OpenAI's, whole", { choices: [{ message: { content: null, tool_calls: [openai] } }] }],
    [
      "OpenAI's, in pieces, with an empty last one",
      stream(
        data({
          choices: [{ delta: { tool_calls: [{ index: 0, id: "c1", function: { name: "edge_call" } }] } }],
        }),
        data({ choices: [{ delta: { tool_calls: [{ index: 0, function: { arguments: '{"agent_' } }] } }] }),
        data({ choices: [{ delta: { tool_calls: [{ index: 0, function: { arguments: 'id":"a"}' } }] } }] }),
        data({
          choices: [
            { delta: { tool_calls: [{ index: 0, id: null, function: { name: null, arguments: "" } }] } },
          ],
        }),
        data({ choices: [{ delta: {}, finish_reason: "tool_calls" }], usage }),
        "data: [DONE]",
      ),
    ],
    [
      "OpenAI's, but the name beside `function`",
      { choices: [{ message: { tool_calls: [{ name: "edge_call", arguments: args }] } }] },
    ],
    ["in its text, whole", { response: inText }],
    ["in its text, streamed", stream(native(inText.slice(0, 9)), native(inText.slice(9)), "data: [DONE]")],
    ["in its text, parsed", { response: JSON.parse(inText) }],
    [
      "marked in its text",
      stream(native("\n<tool"), native(`_call>\n${inText}\n</tool_call>`), "data: [DONE]"),
    ],
  ])("%s", async (_name, answer) => {
    const { reply, texts } = await answerOf(answer);
    expect(reply.calls).toMatchObject([CALL]);
    expect(reply.calls).toHaveLength(1);
    expect(texts.join("").trim()).toBe("");
  });
});

describe("an error", () => {
  test.each<[string, unknown, string, RegExp]>([
    [
      "out of capacity",
      new Error("InferenceUpstreamError: 3040: Capacity temporarily exceeded"),
      "later",
      /3040/,
    ],
    [
      "the day's free share is used up",
      new Error("3036: you have used up your daily free allocation"),
      "never",
      /free/,
    ],
    ["no such model", new Error("5007: No such model"), "never", /No such model/],
    ["anything else", new Error("internal error"), "now", /internal error/],
    ["in the answer", { errors: [{ message: "broken", code: 500 }] }, "now", /broken/],
    ["a stream that breaks off", stream(native("21 ")), "now", /broke off/],
  ])("%s", async (_name, answer, kind, message) => {
    await expect(answerOf(answer)).rejects.toMatchObject({ kind, message: expect.stringMatching(message) });
  });
});

describe("is the model", () => {
  const { ai } = double({ response: "" });
  const models = (more: object) =>
    readSettings({
      ...(env as unknown as Parameters<typeof readSettings>[0]),
      LLM_BASE_URL: "",
      LLM_MODEL: "",
      ...more,
    }).models;

  test("if none is configured", () => {
    expect(models({ AI: ai })).toMatchObject([{ name: DEFAULT_MODEL, baseUrl: WORKERS_AI_URL }]);
    expect(models({ AI: undefined })).toEqual([]);
  });
  test("that LLM_MODEL names", () => {
    expect(models({ AI: ai, LLM_MODEL: "@cf/openai/gpt-oss-120b" })).toMatchObject([
      { model: "@cf/openai/gpt-oss-120b" },
    ]);
  });
  test("not if another one is configured, completely or in part", () => {
    const other = [{ name: "x", base_url: "https://x.example/v1", model: "m" }];
    expect(models({ AI: ai, LLM_MODELS: JSON.stringify(other) })).toMatchObject([{ name: "x" }]);
    expect(models({ AI: ai, LLM_MODEL: "gpt-5-mini" })).toEqual([]);
    expect(models({ AI: ai, LLM_MODEL: "m", LLM_BASE_URL: "https://x.example/v1" })).toMatchObject([
      { baseUrl: "https://x.example/v1" },
    ]);
  });
});

test("a turn of a conversation is answered by it, after a step with a tool", async () => {
  let steps = 0;
  const { ai, asked } = double(() => {
    steps += 1;
    if (steps === 1) return { response: "", tool_calls: [{ name: "nothing_here", arguments: {} }] };
    return stream(native("Done "), native("so."), "data: [DONE]");
  });
  setVariables({ AI: ai, LLM_BASE_URL: "", LLM_MODEL: "" });
  const { body } = await say("workers-ai", "hello");
  expect(body).toMatchObject({ status: "done", answer: "Done so.", model: DEFAULT_MODEL });
  expect(asked).toHaveLength(2);
  expect(asked[1]?.input.messages).toContainEqual(expect.objectContaining({ role: "tool" }));

  setVariables({ AI: undefined });
  const { body: gone } = await say("workers-ai-gone", "hello");
  expect(gone).toMatchObject({ status: "failed", error: { code: "no_model" } });
  expect(gone.answer).toContain("No model is set up");
});
