import { once } from "node:events";
import { afterEach, beforeEach, expect, test } from "vitest";
import { until } from "../../test/wait.ts";
import { bodyOf, calls, delta, Endpoint, event, finish, text } from "../testkit/endpoint.ts";
import type { ModelReply } from "./model-reply.ts";
import { toCalls } from "./reply.ts";
import type { ModelRequest } from "./request.ts";

let endpoint: Endpoint;
const ask = (request: Partial<ModelRequest> = {}) => endpoint.ask(request);

beforeEach(async () => {
  endpoint = await Endpoint.start();
});
afterEach(() => endpoint.stop());

const parsedCalls = (reply: ModelReply) =>
  toCalls(reply.calls, new Set()).map(({ name, args, problem }) => ({
    name,
    args,
    ...(problem && { problem }),
  }));

test("a stream: text as it arrives, then the reply with the endpoint's model and usage", async () => {
  endpoint.stream(
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
    from: `${endpoint.settings.baseUrl} asked-for`,
    text: "Hello",
    calls: [],
    model: "m-1",
    usage: { input_tokens: 12, output_tokens: 3 },
    finish: "stop",
  });
});

test("a redirect is not followed, so key and question stay with the address that was set", async () => {
  const other = await Endpoint.start();
  let asked = 0;
  other.handle = (_, response) => {
    asked += 1;
    response.writeHead(200).end();
  };
  endpoint.handle = (_, response) => {
    response.writeHead(307, { location: `${other.settings.baseUrl}/chat/completions` }).end();
  };
  try {
    await expect(ask()).rejects.toMatchObject({
      message: expect.stringContaining("307: a redirect, which is not followed"),
      status: 307,
    });
    expect(asked).toBe(0);
  } finally {
    await other.stop();
  }
});

test("the request: address, key, limits and tools; without tools no empty list", async () => {
  const seen: Array<{ url: string | undefined; key: string | undefined; body: Record<string, unknown> }> = [];
  endpoint.handle = async (request, response) => {
    seen.push({ url: request.url, key: request.headers.authorization, body: await bodyOf(request) });
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.end(event(text("ok")) + event(finish("stop")) + event("[DONE]"));
  };
  endpoint.settings = { ...endpoint.settings, baseUrl: `${endpoint.settings.baseUrl}//`, apiKey: "secret\n" };
  const tool = {
    type: "function" as const,
    function: { name: "read", description: "Reads", parameters: { type: "object" } },
  };
  await ask({ tools: [tool], maxTokens: 7 });
  delete endpoint.settings.apiKey;
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
  endpoint.stream(
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
  endpoint.stream(
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
  endpoint.stream(...chunks, finish("tool_calls"), "[DONE]");
  const reply = await ask();
  expect(parsedCalls(reply)).toEqual(A_AND_B);
  const ids = toCalls(reply.calls, new Set()).map((call) => call.modelCallId);
  expect(new Set(ids).size).toBe(2);
});

test("an unknown tool's name is passed on, because the runner lists the known ones", async () => {
  endpoint.stream(
    calls({ index: 0, id: "a", function: { name: "no.such tool", arguments: "{}" } }),
    finish("tool_calls"),
  );
  expect((await ask()).calls[0]?.name).toBe("no.such tool");
});

test("null content next to a call is a reply", async () => {
  endpoint.stream(
    delta({ content: null, tool_calls: [{ index: 0, id: "x", function: A }] }),
    finish("tool_calls"),
  );
  expect(await ask()).toMatchObject({ text: "", calls: [{ name: "a" }] });
});

test("a refusal is the answer", async () => {
  endpoint.stream(delta({ content: null, refusal: "I will not." }), finish("stop"), "[DONE]");
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
  endpoint.stream(...events);
  const reply = await ask();
  expect(reply).toMatchObject(expected);
  if (expected.calls === undefined && expected.text === "") expect(reply.calls).toHaveLength(1);
});

test("[DONE] is the end, although the endpoint keeps the connection open", async () => {
  let closed = false;
  endpoint.handle = (_, response) => {
    response.on("close", () => {
      closed = true;
    });
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.write(event(text("hi")) + event("[DONE]"));
  };
  expect((await ask()).text).toBe("hi");
  await until(() => closed, { what: "our side lets go of the connection" });
});

test("a complete completion although a stream was requested", async () => {
  endpoint.respond(200, {
    model: "m-2",
    choices: [
      {
        message: {
          content: "hi",
          // The same id twice: in a complete message each entry is a separate call.
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

test("chunks that are no objects, or are empty, are skipped", async () => {
  endpoint.stream(
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

test("comments between the events", async () => {
  endpoint.handle = (_, response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.end(`: PROCESSING\n\n${event(text("hi"))}: ping\n\n${event(finish("stop"))}${event("[DONE]")}`);
  };
  expect((await ask()).text).toBe("hi");
});

test("CRLF line ends, and no blank line at the end", async () => {
  endpoint.handle = (_, response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.end(
      (event(text("hi")) + event(finish("stop")) + event("[DONE]").trimEnd()).replaceAll("\n", "\r\n"),
    );
  };
  expect((await ask()).text).toBe("hi");
});

test("a character that the network splits in two", async () => {
  const bytes = Buffer.from(event(text("45.6 °C — grün 🌡")) + event(finish("stop")));
  endpoint.handle = async (_, response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    for (const byte of bytes) {
      if (!response.write(Buffer.from([byte]))) await once(response, "drain");
    }
    response.end();
  };
  expect((await ask()).text).toBe("45.6 °C — grün 🌡");
});
