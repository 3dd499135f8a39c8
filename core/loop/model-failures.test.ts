import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, beforeEach, expect, test } from "vitest";
import { until } from "../../test/wait.ts";
import {
  bodyOf,
  calls,
  delta,
  Endpoint,
  event,
  failure,
  finish,
  QUESTION,
  text,
} from "../testkit/endpoint.ts";
import { HabitsInMemory } from "./habits.ts";
import { sourceOf } from "./replay.ts";
import type { ModelRequest } from "./request.ts";

let endpoint: Endpoint;
const where = () => ` at ${new URL(endpoint.settings.baseUrl).host}`;
const ask = (request: Partial<ModelRequest> = {}) => endpoint.ask(request);

beforeEach(async () => {
  endpoint = await Endpoint.start();
});
afterEach(() => endpoint.stop());

test.each<[string, unknown]>([
  ["an empty text", ""],
  ["null", null],
  ["blanks", " \n"],
])("content %s without calls is no answer, and is retried", async (_, content) => {
  endpoint.stream(delta({ content }), finish("stop"), "[DONE]");
  const error = await failure(ask());
  expect(error.kind).toBe("now");
  expect(error.message).toBe("the model m-1 gave an empty answer (stop)");
});

test("a reply that used up its tokens before the first word is not retried", async () => {
  endpoint.stream(finish("length"), "[DONE]");
  const error = await failure(ask());
  expect(error.kind).toBe("never");
  expect(error.message).toContain("MAX_TOKENS");
});

test.each<[string, unknown[]]>([
  ["in a text", [text("half an ans")]],
  ["in a call", [calls({ index: 0, id: "x", function: { name: "a", arguments: '{"n"' } })]],
  ["before anything", []],
  ["with only empty finish_reasons", [delta({ content: "hi" }, { finish_reason: "" })]],
])("a stream that ends without finish_reason or [DONE], %s, counts as broken", async (_, events) => {
  endpoint.stream(...events);
  const error = await failure(ask());
  expect(error.kind).toBe("now");
  expect(error.message).toBe("the model's stream broke off before its end");
});

test("L4: the calls of one that ended with an error do not run", async () => {
  const call = calls({ index: 0, id: "x", function: { name: "a", arguments: "{}" } });
  endpoint.stream(call, finish("error"), "[DONE]");
  const error = await failure(ask());
  expect(error).toMatchObject({ kind: "now", maxAttempts: 2 });
  expect(error.message).toContain("broke its reply off");
});

test("a socket that is destroyed during the stream", async () => {
  endpoint.handle = (_, response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.write(event(text("half")), () => response.destroy());
  };
  const error = await failure(ask());
  expect(error.kind).toBe("now");
  expect(error.message).toContain(`the connection to the model${where()} broke off: `);
});

test("a socket that is destroyed after the complete reply costs nothing", async () => {
  endpoint.handle = (_, response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.write(event(text("whole")) + event(finish("stop")), () => response.destroy());
  };
  expect((await ask()).text).toBe("whole");
});

test("429 with Retry-After in seconds, and as a date", async () => {
  endpoint.respond(429, { error: { message: "slow down" } }, { "retry-after": "3" });
  const inSeconds = await failure(ask());
  expect(inSeconds).toMatchObject({ kind: "later", status: 429, retryAfterMs: 3_000 });
  expect(inSeconds.message).toBe("the model endpoint answered 429: slow down");

  endpoint.respond(429, "{}", { "retry-after": new Date(Date.now() + 20_000).toUTCString() });
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
  endpoint.respond(status, body);
  const error = await failure(ask());
  expect(error).toMatchObject({ kind, status, message });
});

test.each<[string, string, unknown[]]>([
  ["text in one event", "text/event-stream", [text("x".repeat(10_000_000))]],
  ["text in many events", "text/event-stream", Array.from({ length: 60 }, () => text("y".repeat(10_000)))],
  [
    "arguments of a call",
    "text/event-stream",
    [calls({ index: 0, id: "a", function: { name: "read", arguments: "z".repeat(600_000) } })],
  ],
  ["text in a whole completion", "application/json", ["w".repeat(600_000)]],
  ["a whole completion of 10 MB", "application/json", ["w".repeat(10_000_000)]],
])(
  "G10 a reply that is too long is refused while it arrives, and is not requested again: %s",
  async (_, type, parts) => {
    let wholly = false;
    endpoint.handle = (_, response) => {
      response.writeHead(200, { "content-type": type });
      const body =
        type === "application/json"
          ? JSON.stringify({ choices: [{ message: { content: parts[0] }, finish_reason: "stop" }] })
          : parts.map(event).join("") + event(finish("stop")) + event("[DONE]");
      response.end(body, () => {
        wholly = true;
      });
    };
    const heard: string[] = [];
    const error = await failure(ask({ onText: (part) => heard.push(part) }));
    expect(error.kind).toBe("never");
    expect(error.message).toBe(
      "the model's reply is longer than 500,000 characters, and none of it was kept; a lower MAX_TOKENS bounds it",
    );
    expect(heard.join("").length).toBeLessThanOrEqual(500_000);
    if (JSON.stringify(parts).length > 9_000_000) expect(wholly).toBe(false);
  },
);

test("G10 an error of 10 MB is reported by its status", async () => {
  endpoint.respond(500, "x".repeat(10_000_000));
  expect(await failure(ask())).toMatchObject({ kind: "now", message: "the model endpoint answered 500" });
});

test("G10 a reply just below the limit is accepted whole", async () => {
  endpoint.stream(text("x".repeat(500_000)), finish("stop"), "[DONE]");
  expect((await ask()).text).toHaveLength(500_000);
});

test("a long error body is still quoted", async () => {
  endpoint.respond(400, { error: { message: "too many tokens", metadata: { raw: "x".repeat(5_000) } } });
  expect((await failure(ask())).message).toBe("the model endpoint answered 400: too many tokens");
});

test("a parameter that an endpoint refuses is left out or renamed, and the request repeated", async () => {
  const refusals = [
    "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
    "Unsupported value: 'temperature' does not support 0.7 with this model.",
    "unknown field stream_options",
  ];
  const bodies: Array<Record<string, unknown>> = [];
  endpoint.handle = async (request, response) => {
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

test("L8: a form that was learned is dropped when the endpoint refuses it, and that is remembered", async () => {
  const habits = new HabitsInMemory();
  endpoint.settings = { ...endpoint.settings, habits };
  let refused = "max_tokens";
  const names: string[] = [];
  endpoint.handle = async (request, response) => {
    const body = await bodyOf(request);
    names.push("max_tokens" in body ? "max_tokens" : "max_completion_tokens");
    const isRefused = refused in body;
    response.writeHead(isRefused ? 400 : 200, { "content-type": "application/json" });
    const message = "max_completion_tokens and max_tokens are told apart here";
    const reply = { choices: [{ message: { content: "hi" }, finish_reason: "stop" }] };
    response.end(JSON.stringify(isRefused ? { error: { message } } : reply));
  };
  await ask();
  await ask();
  refused = "max_completion_tokens";
  await ask();
  await ask();
  const [a, b] = ["max_tokens", "max_completion_tokens"];
  expect(names).toEqual([a, b, b, b, a, a]);
});

test.each([
  [["ids_of_nine"]],
  [["ids_of_nine", "no_replay"]],
  [["no_temperature", "no_replay", "ids_of_nine"]],
] as const)(
  "L8: of forms that another endpoint behind the address taught, %j, each is dropped that spoils what is missed",
  async (known) => {
    const habits = new HabitsInMemory();
    endpoint.settings = { ...endpoint.settings, habits };
    const from = sourceOf(endpoint.settings);
    habits.learned(from, known);
    const id = "functions.add:0";
    endpoint.handle = async (request, response) => {
      const { messages } = await bodyOf(request);
      const sent = JSON.stringify(messages);
      const isBack = sent.includes(`"id":"${id}"`) && sent.includes("I add.");
      const error = { message: "reasoning_content is missing in assistant tool call message at index 1" };
      const reply = { choices: [{ message: { content: "3" }, finish_reason: "stop" }] };
      response.writeHead(isBack ? 200 : 400, { "content-type": "application/json" });
      response.end(JSON.stringify(isBack ? reply : { error }));
    };
    const call = { id, type: "function" as const, function: { name: "add", arguments: "{}" } };
    const replay = { from, message: { reasoning_content: "I add." } };
    const messages = [
      ...QUESTION.messages,
      { role: "assistant" as const, content: "", tool_calls: [call], replay },
      { role: "tool" as const, tool_call_id: id, content: "3" },
    ];
    expect(await ask({ messages })).toMatchObject({ text: "3" });
    expect(habits.of(from)).toEqual([]);
  },
);

test("a refusal that remains without the parameter ends the call", async () => {
  let asked = 0;
  const message = "bad temperature, bad stream_options, bad max_completion_tokens";
  endpoint.handle = (_, response) => {
    asked += 1;
    response.writeHead(400).end(JSON.stringify({ error: { message } }));
  };
  expect((await failure(ask())).message).toBe(`the model endpoint answered 400: ${message}`);
  // The same words after two other forms ask for neither of them.
  expect(asked).toBe(3);
});

test("HTML with 200: the address is wrong, and is not retried", async () => {
  endpoint.respond(200, "<html>Welcome</html>", { "content-type": "text/html" });
  const error = await failure(ask());
  expect(error.kind).toBe("never");
  expect(error.message).toContain("a web page");
  expect(error.message).toContain("LLM_BASE_URL");
});

test("an unused body is cancelled", async () => {
  let closed = false;
  endpoint.handle = (_, response) => {
    response.on("close", () => {
      closed = true;
    });
    response.writeHead(200, { "content-type": "text/html" });
    response.write("<html>");
  };
  await failure(ask());
  await until(() => closed, { what: "our side lets go of the connection" });
});

/** Refuses the first request for its temperature, and answers the second one so. */
function refuseFirst(answer: (response: ServerResponse) => void): void {
  let asked = 0;
  endpoint.handle = (_, response) => {
    asked += 1;
    if (asked > 1) return answer(response);
    response.writeHead(400, { "content-type": "application/json" });
    response.end(JSON.stringify({ error: { message: "bad temperature" } }));
  };
}

test("a stream that breaks its form is let go also after a refused parameter", async () => {
  let closed = false;
  refuseFirst((response) => {
    response.on("close", () => {
      closed = true;
    });
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.write("data: {broken\n\n");
  });
  await failure(ask());
  await until(() => closed, { what: "our side lets go of the connection" });
});

test("after a refused parameter the first byte has its whole time again", async () => {
  refuseFirst(() => {});
  endpoint.settings.timeouts = { firstByteMs: 300, betweenBytesMs: 50 };
  const error = await failure(ask());
  expect(error).toMatchObject({ slow: true });
  expect(error.message).toContain("sent nothing for 0.3 s");
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
])("instead of a complete completion: %s", async (_, body, kind, message) => {
  endpoint.respond(200, body);
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
  endpoint.stream(text("half"), { error: inner });
  expect(await failure(ask())).toMatchObject({ kind, message });
});

test("an event named error in the stream", async () => {
  endpoint.handle = (_, response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.end('event: error\ndata: {"message":"gone","type":"server_error"}\n\n');
  };
  expect(await failure(ask())).toMatchObject({
    kind: "now",
    message: "the model endpoint reported an error: gone",
  });
});

test("a broken chunk", async () => {
  endpoint.stream(text("half"), '{"choices":[{"delta":');
  const error = await failure(ask());
  expect(error.kind).toBe("now");
  expect(error.message).toContain("broken JSON");
});

test("a hang before the first byte", async () => {
  endpoint.handle = () => {};
  endpoint.settings.timeouts = { firstByteMs: 50 };
  const error = await failure(ask());
  expect(error).toMatchObject({
    kind: "now",
    message: `the model endpoint${where()} sent nothing for 0.1 s`,
  });
});

test("D1 the text for a hang before the first byte names the setting, and only that hang counts as slow", async () => {
  endpoint.handle = () => {};
  endpoint.settings.timeouts = { firstByteMs: 50, firstByteSetting: "MODEL_FIRST_BYTE_MS" };
  const error = await failure(ask());
  expect(error).toMatchObject({ kind: "now", slow: true });
  expect(error.message).toBe(
    `the model endpoint${where()} sent nothing for 0.1 s (MODEL_FIRST_BYTE_MS says how long to wait)`,
  );
  endpoint.settings.timeouts = { firstByteMs: 10_000, firstByteSetting: "MODEL_FIRST_BYTE_MS" };
  endpoint.respond(500, "{}");
  expect((await failure(ask())).slow).toBe(false);
});

test("a hang after the headers counts as one before the first byte", async () => {
  endpoint.handle = (_, response) =>
    response.writeHead(200, { "content-type": "text/event-stream" }).flushHeaders();
  endpoint.settings.timeouts = { firstByteMs: 50 };
  expect((await failure(ask())).message).toBe(`the model endpoint${where()} sent nothing for 0.1 s`);
});

test.each<[string, string]>([
  ["a stream", "text/event-stream"],
  ["a whole completion", "application/json"],
])("a hang during %s", async (_, type) => {
  endpoint.handle = (_, response) => {
    response.writeHead(200, { "content-type": type });
    response.write(type.includes("json") ? '{"choices":' : event(text("half")));
  };
  endpoint.settings.timeouts = { firstByteMs: 5_000, betweenBytesMs: 50 };
  expect(await failure(ask())).toMatchObject({
    kind: "now",
    message: `the model endpoint${where()} stopped sending for 0.1 s`,
  });
});

test("a complete completion may take longer than the first byte while bytes keep coming", async () => {
  endpoint.handle = (_, response) => {
    response.writeHead(200, { "content-type": "application/json" });
    const parts = ['{"content":', '"late"', "}}]}"];
    response.write('{"choices":[{"message":');
    const timer = setInterval(() => {
      const part = parts.shift();
      if (part) response.write(part);
      else {
        clearInterval(timer);
        response.end();
      }
    }, 150);
  };
  endpoint.settings.timeouts = { firstByteMs: 400, betweenBytesMs: 5_000 };
  expect((await ask()).text).toBe("late");
});

test("the whole time is limited, and comments keep the connection alive meanwhile", async () => {
  let comments = 0;
  endpoint.handle = (_, response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    const timer = setInterval(() => {
      comments += 1;
      response.write(": keep-alive\n\n");
    }, 20);
    response.on("close", () => clearInterval(timer));
  };
  endpoint.settings.timeouts = { firstByteMs: 1_000, betweenBytesMs: 1_000, totalMs: 200 };
  const error = await failure(ask());
  expect(error).toMatchObject({
    kind: "never",
    message: `the model endpoint${where()} was not done after 0.2 s`,
  });
  expect(comments).toBeGreaterThan(0);
});

test("no server listens at the address", async () => {
  const other = createServer().listen(0, "127.0.0.1");
  await once(other, "listening");
  const { port } = other.address() as AddressInfo;
  await new Promise((resolve) => other.close(resolve));
  endpoint.settings.baseUrl = `http://127.0.0.1:${port}/v1/a-key`;
  const error = await failure(ask());
  expect(error.kind).toBe("now");
  // The host and nothing else of the address, because some addresses contain a key.
  expect(error.message).toMatch(
    new RegExp(`^the model at 127\\.0\\.0\\.1:${port} could not be reached: .*ECONNREFUSED`),
  );
  expect(error.message).not.toContain("a-key");
});

test("an invalid address", async () => {
  endpoint.settings.baseUrl = "not an address";
  expect(await failure(ask())).toMatchObject({
    kind: "never",
    message: "LLM_BASE_URL is not a URL: 'not an address'",
  });
});

test("a key that no header can carry is not printed", async () => {
  endpoint.settings.apiKey = "se\ncret";
  const error = await failure(ask());
  expect(error.kind).toBe("never");
  expect(error.message).toContain("LLM_API_KEY");
  expect(error.message).not.toContain("cret");
});

test("the caller cancels: before the call, before the first byte, during the stream", async () => {
  endpoint.handle = () => expect.fail("a cancelled call reached the endpoint");
  const before = await failure(ask({ signal: AbortSignal.abort() }));
  expect(before).toMatchObject({ kind: "cancelled", message: "the model call was cancelled" });

  const waiting = new AbortController();
  endpoint.handle = () => waiting.abort();
  expect((await failure(ask({ signal: waiting.signal }))).kind).toBe("cancelled");

  const streaming = new AbortController();
  let closed = false;
  endpoint.handle = (_, response) => {
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
