/** The Messages API over real HTTP: what is sent, how its streams and messages are read, how its errors are sorted. */
import type { Message, RawMessageStreamEvent } from "@anthropic-ai/sdk/resources/messages";
import { afterAll, beforeAll, expect, test } from "vitest";
import { bodyOf, Endpoint, failure } from "../../testkit/endpoint.ts";
import { callModel } from "../model.ts";
import { sourceOf } from "../replay.ts";
import type { ModelRequest } from "../request.ts";

let endpoint: Endpoint;
const asked: Array<{
  url: string | undefined;
  headers: Record<string, unknown>;
  body: Record<string, unknown>;
}> = [];

beforeAll(async () => {
  endpoint = await Endpoint.start();
});
afterAll(() => endpoint.stop());

type Answer = { status?: number; headers?: Record<string, string>; body: string | object };
const stream = (...events: unknown[]): Answer => ({
  headers: { "content-type": "text/event-stream; charset=utf-8" },
  body: events
    .map((event) => `event: ${(event as { type: string }).type}\ndata: ${JSON.stringify(event)}\n\n`)
    .join(""),
});

function answer(...answers: Answer[]): void {
  asked.length = 0;
  endpoint.handle = async (request, response) => {
    asked.push({ url: request.url, headers: request.headers, body: await bodyOf(request) });
    const {
      status = 200,
      headers = { "content-type": "application/json" },
      body,
    } = answers[Math.min(asked.length, answers.length) - 1] as Answer;
    response.writeHead(status, headers);
    response.end(typeof body === "string" ? body : JSON.stringify(body));
  };
}

const settings = () => ({
  baseUrl: endpoint.settings.baseUrl,
  model: "asked-for",
  api: "anthropic" as const,
  apiKey: "sk-1",
  maxTokens: 100,
});
const ask = (more: Partial<ModelRequest> = {}) =>
  callModel(settings(), { messages: [{ role: "user", content: "hello" }], tools: [], ...more });

const usage = {
  input_tokens: 3,
  cache_read_input_tokens: 900,
  cache_creation_input_tokens: 20,
  output_tokens: 1,
};
const begin = {
  type: "message_start",
  message: {
    id: "m",
    type: "message",
    role: "assistant",
    model: "claude-x",
    content: [],
    stop_reason: null,
    usage,
  },
};
const start = (index: number, content_block: object) => ({
  type: "content_block_start",
  index,
  content_block,
});
const delta = (index: number, part: object) => ({ type: "content_block_delta", index, delta: part });
const stop = (index: number) => ({ type: "content_block_stop", index });
const end = (stop_reason: string, output_tokens = 7) => ({
  type: "message_delta",
  delta: { stop_reason, stop_sequence: null },
  usage: { output_tokens },
});
const STOPPED = { type: "message_stop" };
const text = (...pieces: string[]) => [
  start(0, { type: "text", text: "" }),
  ...pieces.map((piece) => delta(0, { type: "text_delta", text: piece })),
  stop(0),
];

test("a stream with a thought, a text and two calls becomes the same reply as from any endpoint", async () => {
  const events = [
    begin,
    { type: "ping" },
    start(0, { type: "thinking", thinking: "", signature: "" }),
    delta(0, { type: "thinking_delta", thinking: "Let me " }),
    delta(0, { type: "thinking_delta", thinking: "look." }),
    delta(0, { type: "signature_delta", signature: "sig" }),
    stop(0),
    start(1, { type: "redacted_thinking", data: "zz" }),
    stop(1),
    start(2, { type: "text", text: "" }),
    delta(2, { type: "text_delta", text: "I " }),
    delta(2, { type: "text_delta", text: "look." }),
    stop(2),
    start(3, { type: "tool_use", id: "toolu_1", name: "read", input: {} }),
    delta(3, { type: "input_json_delta", partial_json: '{"path":' }),
    delta(3, { type: "input_json_delta", partial_json: '"x"}' }),
    stop(3),
    start(4, { type: "tool_use", id: "toolu_2", name: "ls", input: {} }),
    delta(4, { type: "input_json_delta", partial_json: "" }),
    stop(4),
    end("tool_use"),
    STOPPED,
  ] as unknown as RawMessageStreamEvent[];
  answer(stream(...events));
  const told: string[] = [];
  const reply = await ask({ onText: (piece) => told.push(piece) });
  expect(told).toEqual(["I ", "look."]);
  expect(reply).toEqual({
    text: "I look.",
    calls: [
      { id: "toolu_1", name: "read", rawArguments: '{"path":"x"}' },
      { id: "toolu_2", name: "ls", rawArguments: "" },
    ],
    model: "claude-x",
    usage: { input_tokens: 923, output_tokens: 7 },
    finish: "tool_calls",
    from: sourceOf(settings()),
    isThoughtful: true,
    replay: {
      content: [
        { type: "thinking", thinking: "Let me look.", signature: "sig" },
        { type: "redacted_thinking", data: "zz" },
        { type: "text", length: 7 },
        { type: "tool_use" },
        { type: "tool_use" },
      ],
    },
  });
  expect(asked).toMatchObject([
    {
      url: "/v1/messages",
      headers: { "x-api-key": "sk-1", "anthropic-version": "2023-06-01", "content-type": "application/json" },
      body: { model: "asked-for", max_tokens: 100, stream: true },
    },
  ]);
  expect(asked[0]?.headers).not.toHaveProperty("authorization");
});

test("a whole message in place of a stream", async () => {
  const message = {
    id: "m",
    type: "message",
    role: "assistant",
    model: "claude-x",
    content: [
      { type: "text", text: "Hi" },
      { type: "tool_use", id: "t", name: "read", input: { path: "x" } },
    ],
    stop_reason: "end_turn",
    usage: { input_tokens: 2, output_tokens: 1 },
  } as unknown as Message;
  answer({ body: message });
  expect(await ask()).toEqual({
    text: "Hi",
    calls: [{ id: "t", name: "read", rawArguments: '{"path":"x"}' }],
    model: "claude-x",
    usage: { input_tokens: 2, output_tokens: 1 },
    finish: "stop",
    from: sourceOf(settings()),
  });
});

test("thoughts beyond 64 KiB are dropped, all of them, and so is one without its signature", async () => {
  const thought = (thinking: string, signature: string) => [
    start(0, { type: "thinking", thinking, signature }),
    stop(0),
  ];
  const after = [start(1, { type: "text", text: "Hi" }), end("end_turn"), STOPPED];
  answer(stream(begin, ...thought("x".repeat(70_000), "s"), ...after));
  expect(await ask()).not.toHaveProperty("replay");
  answer(stream(begin, ...thought("x", ""), ...after));
  expect(await ask()).not.toHaveProperty("replay");
  answer(stream(begin, ...thought("x", "s"), ...after));
  expect(await ask()).toHaveProperty("replay");
});

test.each([
  ["end_turn", "stop"],
  ["stop_sequence", "stop"],
  ["max_tokens", "length"],
  ["model_context_window_exceeded", "length"],
  ["pause_turn", "length"],
  ["refusal", "content_filter"],
  ["something_new", "something_new"],
])("stop reason %s is finish %s", async (reason, finish) => {
  answer(stream(begin, ...text("Half a"), end(reason), STOPPED));
  expect(await ask()).toMatchObject({ text: "Half a", finish });
});

test("a stream that breaks off is no reply", async () => {
  answer(stream(begin, ...text("Half")));
  expect(await failure(ask())).toMatchObject({ kind: "now", message: expect.stringContaining("broke off") });
});

const error = (type: string, message: string) => ({ type: "error", error: { type, message } });

test.each<[string, Answer, object]>([
  [
    "overloaded",
    { status: 529, body: error("overloaded_error", "Overloaded") },
    { kind: "later", status: 529 },
  ],
  [
    "a rate limit",
    { status: 429, headers: { "retry-after": "7" }, body: error("rate_limit_error", "slow down") },
    { kind: "later", retryAfterMs: 7_000 },
  ],
  [
    "a wrong key",
    { status: 401, body: error("authentication_error", "invalid x-api-key") },
    { kind: "never" },
  ],
  [
    "too long",
    {
      status: 400,
      body: error("invalid_request_error", "prompt is too long: 210000 tokens > 200000 maximum"),
    },
    { kind: "never", message: expect.stringContaining("prompt is too long: 210000 tokens") },
  ],
  ["a fault", { status: 500, body: error("api_error", "Internal server error") }, { kind: "now" }],
  ["overloaded in the stream", stream(begin, error("overloaded_error", "Overloaded")), { kind: "later" }],
  ["a fault in the stream", stream(begin, error("api_error", "oops")), { kind: "now" }],
  ["a refused request in the stream", stream(error("invalid_request_error", "no")), { kind: "never" }],
  ["an error with status 200", { body: error("invalid_request_error", "no") }, { kind: "never" }],
])("error: %s", async (_name, given, wanted) => {
  answer(given);
  const failed = await failure(ask());
  expect(failed).toMatchObject(wanted);
  expect(asked).toHaveLength(1);
});

const THOUGHT = { type: "thinking", thinking: "hm", signature: "s" };

type Wanted = Partial<ModelRequest> & { temperature?: number };
test.each<[string, Wanted | (() => Wanted), string, (body: string) => void]>([
  [
    "temperature",
    { temperature: 1 },
    "`temperature` is deprecated for this model.",
    (body) => expect(body).not.toContain("temperature"),
  ],
  [
    "a forced call",
    { tools: [TOOL()], toolChoice: "required" },
    "Thinking may not be enabled when tool_choice forces tool use.",
    (body) => expect(body).not.toContain("tool_choice"),
  ],
  [
    "too many tokens",
    { maxTokens: 9_000 },
    "max_tokens: 9000 > 8192, which is the maximum allowed number of output tokens for claude-x",
    (body) => expect(body).toContain('"max_tokens":4096'),
  ],
  [
    "marks",
    { tools: [TOOL()] },
    "tools.0.cache_control: Extra inputs are not permitted",
    (body) => expect(body).not.toContain("cache_control"),
  ],
  [
    "thoughts",
    () => ({ messages: withThought() }),
    "messages.1.content.0: Invalid `signature` in `thinking` block",
    (body) => expect(body).not.toContain("signature"),
  ],
  [
    "pictures",
    {
      messages: [
        { role: "user", content: [{ type: "image_url", image_url: { url: "data:image/png;base64,AA" } }] },
      ],
    },
    "this model does not support image input",
    (body) => expect(body).toContain("[a picture that this model cannot see"),
  ],
])("what is refused is left out: %s", async (_name, given, said, check) => {
  const { temperature, ...more } = typeof given === "function" ? given() : given;
  answer(
    { status: 400, body: error("invalid_request_error", said) },
    stream(begin, ...text("Hi"), end("end_turn"), STOPPED),
  );
  const request: ModelRequest = { messages: [{ role: "user", content: "hello" }], tools: [], ...more };
  const reply = await callModel(
    { ...settings(), ...(temperature !== undefined && { temperature }) },
    request,
  );
  expect(reply.text).toBe("Hi");
  expect(asked).toHaveLength(2);
  check(JSON.stringify(asked[1]?.body));
  // The second time there is nothing left to leave out.
  answer({ status: 400, body: error("invalid_request_error", said) });
  expect(await failure(callModel(settings(), request))).toMatchObject({ kind: "never" });
  expect(asked.length).toBeLessThanOrEqual(2);
});

function TOOL() {
  return {
    type: "function" as const,
    function: { name: "read", description: "", parameters: { type: "object" } },
  };
}

function withThought(): ModelRequest["messages"] {
  const from = sourceOf(settings());
  return [
    { role: "user", content: "Hi" },
    { role: "assistant", content: "Ho", replay: { from, content: [THOUGHT] } },
    { role: "user", content: "Go" },
  ];
}
