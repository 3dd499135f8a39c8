import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, beforeEach, expect, test } from "vitest";
import { until } from "../../test/wait.ts";
import { callModel, type ModelRequest, type ModelSettings } from "./model.ts";
import { type ModelReply, toCalls } from "./reply.ts";
import { ModelError } from "./retry.ts";

type Handler = (request: IncomingMessage, response: ServerResponse) => void | Promise<void>;

let server: Server;
let handle: Handler;
let settings: ModelSettings;

beforeEach(async () => {
  server = createServer((request, response) => void handle(request, response));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  settings = { baseUrl: `http://127.0.0.1:${port}/v1`, model: "asked-for", maxTokens: 100, temperature: 0.7 };
});

afterEach(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

const QUESTION: ModelRequest = { messages: [{ role: "user", content: "hello" }], tools: [] };
const ask = (request: Partial<ModelRequest> = {}) => callModel(settings, { ...QUESTION, ...request });

async function failure(promise: Promise<unknown>): Promise<ModelError> {
  const error = await promise.then(
    (value) => expect.fail(`no error but ${JSON.stringify(value)}`),
    (reason) => reason,
  );
  expect(error).toBeInstanceOf(ModelError);
  return error;
}

const event = (data: unknown) => `data: ${typeof data === "string" ? data : JSON.stringify(data)}\n\n`;
const delta = (part: unknown, more: object = {}) => ({ model: "m-1", choices: [{ delta: part, ...more }] });
const text = (content: string) => delta({ content });
const finish = (reason: string) => delta({}, { finish_reason: reason });
const calls = (...toolCalls: unknown[]) => delta({ tool_calls: toolCalls });

/** Answers every request with these events and a clean end. */
function stream(...events: unknown[]): void {
  handle = (_, response) => {
    response.writeHead(200, { "content-type": "text/event-stream; charset=utf-8" });
    for (const data of events) response.write(event(data));
    response.end();
  };
}

function respond(status: number, body: string | object, headers: Record<string, string> = {}): void {
  handle = (_, response) => {
    response.writeHead(status, { "content-type": "application/json", ...headers });
    response.end(typeof body === "string" ? body : JSON.stringify(body));
  };
}

const parsedCalls = (reply: ModelReply) =>
  toCalls(reply.calls, new Set()).map(({ name, args, problem }) => ({
    name,
    args,
    ...(problem && { problem }),
  }));

async function bodyOf(request: IncomingMessage): Promise<Record<string, unknown>> {
  let body = "";
  for await (const chunk of request) body += chunk;
  return JSON.parse(body);
}

test("a stream: text as it arrives, then the reply with the endpoint's model and usage", async () => {
  stream(
    delta({ role: "assistant", content: "" }),
    text("Hel"),
    text("lo"),
    finish("stop"),
    { choices: [], usage: { prompt_tokens: 12, completion_tokens: 3 } },
    "[DONE]",
  );
  const heard: string[] = [];
  const reply = await ask({ onText: (part) => heard.push(part) });
  expect(heard).toEqual(["Hel", "lo"]);
  expect(reply).toEqual({
    text: "Hello",
    calls: [],
    model: "m-1",
    usage: { input_tokens: 12, output_tokens: 3 },
    finish: "stop",
  });
});

test("the request: address, key, limits and tools; without tools no empty list", async () => {
  const seen: Array<{ url: string | undefined; key: string | undefined; body: Record<string, unknown> }> = [];
  handle = async (request, response) => {
    seen.push({ url: request.url, key: request.headers.authorization, body: await bodyOf(request) });
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.end(event(text("ok")) + event(finish("stop")) + event("[DONE]"));
  };
  settings = { ...settings, baseUrl: `${settings.baseUrl}//`, apiKey: "secret\n" };
  const tool = {
    type: "function" as const,
    function: { name: "read", description: "Reads", parameters: { type: "object" } },
  };
  await ask({ tools: [tool], maxTokens: 7 });
  delete settings.apiKey;
  await ask();
  expect(seen[0]).toMatchObject({
    url: "/v1/chat/completions",
    key: "Bearer secret",
    body: { model: "asked-for", stream: true, max_tokens: 7, temperature: 0.7, tools: [tool] },
  });
  expect(seen[1]?.key).toBeUndefined();
  expect(seen[1]?.body).toMatchObject({ max_tokens: 100 });
  expect(seen[1]?.body).not.toHaveProperty("tools");
});

test("arguments in fragments", async () => {
  stream(
    calls({ index: 0, id: "a", function: { name: "read", arguments: "" } }),
    calls({ index: 0, function: { arguments: '{"pa' } }),
    calls({ index: 0, function: { arguments: 'th":"x"}' } }),
    finish("tool_calls"),
    "[DONE]",
  );
  expect(parsedCalls(await ask())).toEqual([{ name: "read", args: { path: "x" } }]);
});

test.each<[string, unknown, object]>([
  ["an object", { path: "x" }, { args: { path: "x" } }],
  ["in a code fence", '```json\n{"path":"x"}\n```', { args: { path: "x" } }],
  ["encoded twice", JSON.stringify('{"path":"x"}'), { args: { path: "x" } }],
  ["with a trailing comma", '{"path":"x",}', { args: { path: "x" } }],
  ["cut off", '{"path":"x', { args: {}, problem: 'the arguments are not a JSON object: {"path":"x' }],
  ["a list", "[1]", { args: {}, problem: "the arguments are not a JSON object: [1]" }],
  ["null", null, { args: {} }],
])("arguments %s", async (_, args, expected) => {
  stream(
    calls({ index: 0, id: "a", function: { name: "read", arguments: args } }),
    finish("tool_calls"),
    "[DONE]",
  );
  expect(parsedCalls(await ask())).toEqual([{ name: "read", ...expected }]);
});

const A = { name: "a", arguments: '{"n":1}' };
const B = { name: "b", arguments: '{"n":2}' };
const A_AND_B = [
  { name: "a", args: { n: 1 } },
  { name: "b", args: { n: 2 } },
];
test.each<[string, unknown[]]>([
  ["with an index", [calls({ index: 0, id: "x", function: A }, { index: 1, id: "y", function: B })]],
  ["without index", [calls({ id: "x", function: A }, { id: "y", function: B })]],
  [
    "all with index 0 and different ids",
    [calls({ index: 0, id: "x", function: A }), calls({ index: 0, id: "y", function: B })],
  ],
  [
    "all with index 0 and the same id",
    [calls({ index: 0, id: "x", function: A }), calls({ index: 0, id: "x", function: B })],
  ],
  ["all with index 0 and no id", [calls({ index: 0, function: A }), calls({ index: 0, function: B })]],
  ["with neither index nor id", [calls({ function: A }, { function: B })]],
  [
    "with a null index and an empty id",
    [calls({ index: null, id: "", function: A }), calls({ index: null, id: "", function: B })],
  ],
  [
    "in fragments that are interleaved",
    [
      calls({ index: 0, id: "x", function: { name: "a", arguments: '{"n"' } }),
      calls({ index: 1, id: "y", function: { name: "b", arguments: '{"n"' } }),
      calls({ index: 0, function: { arguments: ":1}" } }, { index: 1, function: { arguments: ":2}" } }),
    ],
  ],
])("several calls %s", async (_, chunks) => {
  stream(...chunks, finish("tool_calls"), "[DONE]");
  const reply = await ask();
  expect(parsedCalls(reply)).toEqual(A_AND_B);
  const ids = toCalls(reply.calls, new Set()).map((call) => call.modelCallId);
  expect(new Set(ids).size).toBe(2);
});

test("an unknown tool's name comes through: the runner says what there is", async () => {
  stream(
    calls({ index: 0, id: "a", function: { name: "no.such tool", arguments: "{}" } }),
    finish("tool_calls"),
  );
  expect((await ask()).calls[0]?.name).toBe("no.such tool");
});

test.each<[string, unknown]>([
  ["an empty text", ""],
  ["null", null],
  ["blanks", " \n"],
])("content %s without calls is no answer, and worth another try", async (_, content) => {
  stream(delta({ content }), finish("stop"), "[DONE]");
  const error = await failure(ask());
  expect(error.kind).toBe("now");
  expect(error.message).toBe("the model m-1 gave an empty answer (stop)");
});

test("content null beside a call is a reply", async () => {
  stream(delta({ content: null, tool_calls: [{ index: 0, id: "x", function: A }] }), finish("tool_calls"));
  expect(await ask()).toMatchObject({ text: "", calls: [{ name: "a" }] });
});

test("tokens used up before the first word would be used up again", async () => {
  stream(finish("length"), "[DONE]");
  const error = await failure(ask());
  expect(error.kind).toBe("never");
  expect(error.message).toContain("MAX_TOKENS");
});

test("a refusal is the answer", async () => {
  stream(delta({ content: null, refusal: "I will not." }), finish("stop"), "[DONE]");
  expect((await ask()).text).toBe("I will not.");
});

test.each<[string, unknown[], Partial<ModelReply>]>([
  [
    "'stop' with a call",
    [calls({ index: 0, id: "x", function: A }), finish("stop"), "[DONE]"],
    { text: "", finish: "stop" },
  ],
  ["'tool_calls' without one", [text("hi"), finish("tool_calls"), "[DONE]"], { text: "hi", calls: [] }],
  ["none, but [DONE]", [text("hi"), "[DONE]"], { text: "hi", finish: undefined }],
  ["one, but no [DONE]", [text("hi"), finish("stop")], { text: "hi", finish: "stop" }],
  [
    "an empty one with every chunk",
    [delta({ content: "hi" }, { finish_reason: "" }), "[DONE]"],
    { text: "hi" },
  ],
])("finish_reason %s", async (_, events, expected) => {
  stream(...events);
  const reply = await ask();
  expect(reply).toMatchObject(expected);
  if (expected.calls === undefined && expected.text === "") expect(reply.calls).toHaveLength(1);
});

test.each<[string, unknown[]]>([
  ["in a text", [text("half an ans")]],
  ["in a call", [calls({ index: 0, id: "x", function: { name: "a", arguments: '{"n"' } })]],
  ["before anything", []],
  ["with only empty finish_reasons", [delta({ content: "hi" }, { finish_reason: "" })]],
])("a stream that ends without finish_reason or [DONE], %s, broke off", async (_, events) => {
  stream(...events);
  const error = await failure(ask());
  expect(error.kind).toBe("now");
  expect(error.message).toBe("the model's stream broke off before its end");
});

test("a socket that is destroyed in mid-stream", async () => {
  handle = (_, response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.write(event(text("half")), () => response.destroy());
  };
  const error = await failure(ask());
  expect(error.kind).toBe("now");
  expect(error.message).toMatch(/^the connection to the model broke off: /);
});

test("a socket that is destroyed once the reply is whole costs nothing", async () => {
  handle = (_, response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.write(event(text("whole")) + event(finish("stop")), () => response.destroy());
  };
  expect((await ask()).text).toBe("whole");
});

test("[DONE] is the end, though the endpoint keeps the connection open", async () => {
  let closed = false;
  handle = (_, response) => {
    response.on("close", () => {
      closed = true;
    });
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.write(event(text("hi")) + event("[DONE]"));
  };
  expect((await ask()).text).toBe("hi");
  await until(() => closed, { what: "our side lets go of the connection" });
});

test("429 with Retry-After in seconds, and as a date", async () => {
  respond(429, { error: { message: "slow down" } }, { "retry-after": "3" });
  const inSeconds = await failure(ask());
  expect(inSeconds).toMatchObject({ kind: "later", status: 429, retryAfterMs: 3_000 });
  expect(inSeconds.message).toBe("the model endpoint answered 429: slow down");

  respond(429, "{}", { "retry-after": new Date(Date.now() + 20_000).toUTCString() });
  const asDate = await failure(ask());
  expect(asDate.kind).toBe("later");
  expect(asDate.retryAfterMs).toBeGreaterThan(15_000);
  expect(asDate.retryAfterMs).toBeLessThanOrEqual(20_000);
});

test.each<[string, number, object | string, string, string]>([
  [
    "429 without money",
    429,
    { error: { message: "You exceeded your current quota", code: "insufficient_quota" } },
    "never",
    "the model endpoint answered 429: You exceeded your current quota",
  ],
  ["500", 500, "", "now", "the model endpoint answered 500"],
  [
    "401",
    401,
    { error: { message: "Incorrect API key" } },
    "never",
    "the model endpoint answered 401: Incorrect API key",
  ],
  [
    "404",
    404,
    { error: "model 'x' not found" },
    "never",
    "the model endpoint answered 404: model 'x' not found",
  ],
  ["404 of a proxy", 404, "<html>not here</html>", "never", "the model endpoint answered 404"],
])("%s", async (_, status, body, kind, message) => {
  respond(status, body);
  const error = await failure(ask());
  expect(error).toMatchObject({ kind, status, message });
});

test("an error body that is long still gives its words", async () => {
  respond(400, { error: { message: "too many tokens", metadata: { raw: "x".repeat(5_000) } } });
  expect((await failure(ask())).message).toBe("the model endpoint answered 400: too many tokens");
});

test("what an endpoint refuses is left out or renamed, and asked again", async () => {
  const refusals = [
    "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
    "Unsupported value: 'temperature' does not support 0.7 with this model.",
    "unknown field stream_options",
  ];
  const bodies: Array<Record<string, unknown>> = [];
  handle = async (request, response) => {
    bodies.push(await bodyOf(request));
    const message = refusals.shift();
    response.writeHead(message ? 400 : 200, {
      "content-type": message ? "application/json" : "text/event-stream",
    });
    response.end(message ? JSON.stringify({ error: { message } }) : event(text("hi")) + event("[DONE]"));
  };
  expect((await ask()).text).toBe("hi");
  expect(bodies).toHaveLength(4);
  expect(bodies[3]).toEqual({
    model: "asked-for",
    messages: QUESTION.messages,
    stream: true,
    max_completion_tokens: 100,
  });
});

test("a refusal that leaving out does not mend ends", async () => {
  let asked = 0;
  const message = "bad temperature, bad stream_options, bad max_completion_tokens";
  handle = (_, response) => {
    asked += 1;
    response.writeHead(400).end(JSON.stringify({ error: { message } }));
  };
  expect((await failure(ask())).message).toBe(`the model endpoint answered 400: ${message}`);
  expect(asked).toBe(4);
});

test("HTML with 200: the address is wrong, and another try will not mend it", async () => {
  respond(200, "<html>Welcome</html>", { "content-type": "text/html" });
  const error = await failure(ask());
  expect(error.kind).toBe("never");
  expect(error.message).toContain("text/html");
  expect(error.message).toContain("LLM_BASE_URL");
});

test("a body that nobody wants is let go of", async () => {
  let closed = false;
  handle = (_, response) => {
    response.on("close", () => {
      closed = true;
    });
    response.writeHead(200, { "content-type": "text/html" });
    response.write("<html>");
  };
  await failure(ask());
  await until(() => closed, { what: "our side lets go of the connection" });
});

test("a whole completion though a stream was asked for", async () => {
  respond(200, {
    model: "m-2",
    choices: [
      {
        message: {
          content: "hi",
          // The same id twice: in a whole message each entry is a call of its own.
          tool_calls: [
            { id: "x", function: A },
            { id: "x", function: B },
          ],
        },
        finish_reason: "tool_calls",
      },
    ],
    usage: { prompt_tokens: 1, completion_tokens: 2 },
  });
  const heard: string[] = [];
  const reply = await ask({ onText: (part) => heard.push(part) });
  expect(reply).toMatchObject({ text: "hi", model: "m-2", usage: { input_tokens: 1, output_tokens: 2 } });
  expect(parsedCalls(reply)).toEqual(A_AND_B);
  expect(heard).toEqual(["hi"]);
});

test.each<[string, string, string, string]>([
  ["broken JSON", '{"choices":[', "now", 'the model endpoint sent broken JSON: {"choices":['],
  ["null", "null", "now", "the model asked-for gave an empty answer"],
  [
    "an error in place of it",
    '{"error":{"message":"no such model","code":404}}',
    "never",
    "the model endpoint answered 404: no such model",
  ],
])("instead of a whole completion %s", async (_, body, kind, message) => {
  respond(200, body);
  expect(await failure(ask())).toMatchObject({ kind, message });
});

test.each<[string, unknown, string, string]>([
  [
    "with an HTTP status",
    { message: "upstream died", code: 502 },
    "now",
    "the model endpoint answered 502: upstream died",
  ],
  [
    "of a rate limit",
    { message: "wait", type: "rate_limit_error" },
    "later",
    "the model endpoint reported an error: wait",
  ],
  [
    "of overload",
    { message: "busy", type: "overloaded_error" },
    "later",
    "the model endpoint reported an error: busy",
  ],
  [
    "without money",
    { message: "pay", code: "insufficient_quota" },
    "never",
    "the model endpoint reported an error: pay",
  ],
  [
    "of the request",
    { message: "bad", type: "invalid_request_error" },
    "never",
    "the model endpoint reported an error: bad",
  ],
  [
    "of the server",
    { message: "oops", type: "server_error" },
    "now",
    "the model endpoint reported an error: oops",
  ],
  ["as a text", "out of memory", "now", "the model endpoint reported an error: out of memory"],
  ["without words", { detail: 1 }, "now", 'the model endpoint reported an error: {"error":{"detail":1}}'],
])("an error object in the stream, %s", async (_, inner, kind, message) => {
  stream(text("half"), { error: inner });
  expect(await failure(ask())).toMatchObject({ kind, message });
});

test("an event named error in the stream", async () => {
  handle = (_, response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.end('event: error\ndata: {"message":"gone","type":"server_error"}\n\n');
  };
  expect(await failure(ask())).toMatchObject({
    kind: "now",
    message: "the model endpoint reported an error: gone",
  });
});

test("chunks that are no objects, or hold nothing, are passed over", async () => {
  stream(
    "null",
    "7",
    "[]",
    { choices: null },
    { choices: [null] },
    { choices: [{ delta: null }] },
    text("hi"),
    finish("stop"),
  );
  expect((await ask()).text).toBe("hi");
});

test("a broken chunk", async () => {
  stream(text("half"), '{"choices":[{"delta":');
  const error = await failure(ask());
  expect(error.kind).toBe("now");
  expect(error.message).toContain("broken JSON");
});

test("a hang before the first byte", async () => {
  handle = () => {};
  settings.timeouts = { firstByteMs: 50 };
  const error = await failure(ask());
  expect(error).toMatchObject({ kind: "now", message: "the model endpoint sent nothing for 0.1 s" });
});

test("a hang after the headers is one before the first byte too", async () => {
  handle = (_, response) => response.writeHead(200, { "content-type": "text/event-stream" }).flushHeaders();
  settings.timeouts = { firstByteMs: 50 };
  expect((await failure(ask())).message).toBe("the model endpoint sent nothing for 0.1 s");
});

test.each<[string, string]>([
  ["a stream", "text/event-stream"],
  ["a whole completion", "application/json"],
])("a hang in the middle of %s", async (_, type) => {
  handle = (_, response) => {
    response.writeHead(200, { "content-type": type });
    response.write(type.includes("json") ? '{"choices":' : event(text("half")));
  };
  settings.timeouts = { firstByteMs: 5_000, betweenBytesMs: 50 };
  expect(await failure(ask())).toMatchObject({
    kind: "now",
    message: "the model endpoint stopped sending for 0.1 s",
  });
});

test("a whole completion may take longer than the first byte if bytes keep coming", async () => {
  handle = (_, response) => {
    response.writeHead(200, { "content-type": "application/json" });
    const parts = ['{"choices":[{"message":', '{"content":', '"late"', "}}]}"];
    const timer = setInterval(() => {
      const part = parts.shift();
      if (part) response.write(part);
      else {
        clearInterval(timer);
        response.end();
      }
    }, 40);
  };
  settings.timeouts = { firstByteMs: 120, betweenBytesMs: 1_000 };
  expect((await ask()).text).toBe("late");
});

test("the whole time is bounded, comments keep the rest alive", async () => {
  let comments = 0;
  handle = (_, response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    const timer = setInterval(() => {
      comments += 1;
      response.write(": keep-alive\n\n");
    }, 20);
    response.on("close", () => clearInterval(timer));
  };
  settings.timeouts = { firstByteMs: 1_000, betweenBytesMs: 1_000, totalMs: 200 };
  const error = await failure(ask());
  expect(error).toMatchObject({ kind: "never", message: "the model endpoint was not done after 0.2 s" });
  expect(comments).toBeGreaterThan(0);
});

test("comments between the events", async () => {
  handle = (_, response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.end(`: PROCESSING\n\n${event(text("hi"))}: ping\n\n${event(finish("stop"))}${event("[DONE]")}`);
  };
  expect((await ask()).text).toBe("hi");
});

test("CRLF line ends, and no blank line at the end", async () => {
  handle = (_, response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.end(
      (event(text("hi")) + event(finish("stop")) + event("[DONE]").trimEnd()).replaceAll("\n", "\r\n"),
    );
  };
  expect((await ask()).text).toBe("hi");
});

test("a character that is cut in two by the network", async () => {
  const bytes = Buffer.from(event(text("45.6 °C — grün 🌡")) + event(finish("stop")));
  handle = async (_, response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    for (const byte of bytes) {
      if (!response.write(Buffer.from([byte]))) await once(response, "drain");
    }
    response.end();
  };
  expect((await ask()).text).toBe("45.6 °C — grün 🌡");
});

test("nobody listens at the address", async () => {
  const other = createServer().listen(0, "127.0.0.1");
  await once(other, "listening");
  const { port } = other.address() as AddressInfo;
  await new Promise((resolve) => other.close(resolve));
  settings.baseUrl = `http://127.0.0.1:${port}/v1`;
  const error = await failure(ask());
  expect(error.kind).toBe("now");
  expect(error.message).toMatch(/^the model could not be reached: .*ECONNREFUSED/);
});

test("an address that is none", async () => {
  settings.baseUrl = "not an address";
  expect(await failure(ask())).toMatchObject({
    kind: "never",
    message: "LLM_BASE_URL is not a URL: 'not an address'",
  });
});

test("a key that no header can carry is not told to anyone", async () => {
  settings.apiKey = "se\ncret";
  const error = await failure(ask());
  expect(error.kind).toBe("never");
  expect(error.message).toContain("LLM_API_KEY");
  expect(error.message).not.toContain("cret");
});

test("the caller cancels: before the call, before the first byte, in mid-stream", async () => {
  handle = () => expect.fail("a cancelled call reached the endpoint");
  const before = await failure(ask({ signal: AbortSignal.abort() }));
  expect(before).toMatchObject({ kind: "cancelled", message: "the model call was cancelled" });

  const waiting = new AbortController();
  handle = () => waiting.abort();
  expect((await failure(ask({ signal: waiting.signal }))).kind).toBe("cancelled");

  const streaming = new AbortController();
  let closed = false;
  handle = (_, response) => {
    response.on("close", () => {
      closed = true;
    });
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.write(event(text("half")));
  };
  const error = await failure(ask({ signal: streaming.signal, onText: () => streaming.abort() }));
  expect(error.kind).toBe("cancelled");
  await until(() => closed, { what: "the endpoint sees the connection close" });
});
