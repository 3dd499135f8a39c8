/**
 * What endpoints and proxies of the Messages API were reported to send, played over real HTTP to the loop with one tool, `bump`. Each
 * row has the answers in their order, the person's text, how often the tool ran, and the requests that it took.
 */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, expect, test } from "vitest";
import { breachOfMessages, type MessagesBody } from "../../../test/scripted-messages.ts";
import { HabitsInMemory } from "../habits.ts";
import { callModel } from "../model.ts";
import { ModelLimits } from "../model-limits.ts";
import { DEFAULT_LIMITS } from "../next.ts";
import type { ModelSettings } from "../request.ts";
import { runLoop } from "../run.ts";

type Answer = {
  status?: number;
  headers?: Record<string, string>;
  body: string | Buffer;
  slow?: true;
  cut?: true;
};
type Row = {
  answers: Array<Answer | ((body: MessagesBody) => Answer)>;
  text: string | RegExp;
  ran: number;
  requests: number;
  settings?: Partial<ModelSettings>;
};

let url = "";
let asked: MessagesBody[] = [];
let breaches: string[] = [];
let answers: Row["answers"] = [];
const server = createServer(async (request, response) => {
  let text = "";
  for await (const piece of request) text += piece;
  // A local server is also asked for its window; this one tells none.
  if (request.method === "GET") return void response.writeHead(404).end();
  const body = JSON.parse(text) as MessagesBody;
  asked.push(body);
  const breach = breachOfMessages(body, request.headers);
  if (breach) breaches.push(breach);
  const next = answers[asked.length - 1] ?? final(body);
  const { status = 200, headers, body: sent, slow, cut } = typeof next === "function" ? next(body) : next;
  response.writeHead(status, headers ?? { "content-type": "text/event-stream" });
  if (!slow) return void (cut ? response.write(sent, () => response.destroy()) : response.end(sent));
  for (let at = 0; at < sent.length; at += 37) {
    response.write(sent.slice(at, at + 37));
    await new Promise((resolve) => setImmediate(resolve));
  }
  response.end();
});

beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => void server.close());

type Event = { type: string } & Record<string, unknown>;
const event = (one: Event) => `event: ${one.type}\ndata: ${JSON.stringify(one)}\n\n`;
const sse = (events: readonly Event[]) => events.map(event).join("");
const say = (...events: Event[]): Answer => ({ body: sse(events) });

const USAGE = { input_tokens: 11, output_tokens: 1 };
const START: Event = {
  type: "message_start",
  message: {
    id: "m",
    type: "message",
    role: "assistant",
    model: "claude",
    content: [],
    stop_reason: null,
    usage: USAGE,
  },
};
const STOP: Event = { type: "message_stop" };
const PING: Event = { type: "ping" };
const begin = (index: number, content_block: object): Event => ({
  type: "content_block_start",
  index,
  content_block,
});
const delta = (index: number, part: object): Event => ({ type: "content_block_delta", index, delta: part });
const end = (index: number): Event => ({ type: "content_block_stop", index });
const done = (stop_reason: string): Event => ({
  type: "message_delta",
  delta: { stop_reason, stop_sequence: null },
  usage: { output_tokens: 7 },
});
const text = (words: string, index = 0): Event[] => [
  begin(index, { type: "text", text: "" }),
  delta(index, { type: "text_delta", text: words }),
  end(index),
];
const json = (n: number | string) => JSON.stringify({ n });
const call = (
  n: number | string,
  { index = 0, id = `toolu_${n}`, name = "bump", pieces = [json(n)] } = {},
): Event[] => [
  begin(index, { type: "tool_use", id, name, input: {} }),
  ...pieces.map((partial_json) => delta(index, { type: "input_json_delta", partial_json })),
  end(index),
];
const CALL: Event[] = [START, ...call(1), done("tool_use"), STOP];
const error = (
  status: number,
  type: string,
  message: string,
  headers: Record<string, string> = {},
): Answer => ({
  status,
  headers: { "content-type": "application/json", ...headers },
  body: JSON.stringify({ type: "error", error: { type, message } }),
});
const whole = (content: object[], stop_reason: string): string =>
  JSON.stringify({
    id: "m",
    type: "message",
    role: "assistant",
    model: "claude",
    content,
    stop_reason,
    usage: USAGE,
  });

function final(body: MessagesBody): Answer {
  const results = body.messages.flatMap(({ content }) =>
    content.flatMap((block) => (block.type === "tool_result" ? [String(block.content)] : [])),
  );
  return say(START, ...text(`FINAL(${results.join(" | ")})`), done("end_turn"), STOP);
}

/** A call in a special form, then the final text. */
const once = (answer: Answer): Row => ({ answers: [answer], text: "FINAL(bumped 1)", ran: 1, requests: 2 });
const raw = (body: string | Buffer, headers?: Record<string, string>): Row =>
  once({ body, ...(headers && { headers }) });
const typed = (type: string): Row => raw(sse(CALL), { "content-type": type });
/** A fault, then the call, then the final text. */
const after = (fault: Answer, more: Partial<Row> = {}): Row => ({
  answers: [fault, say(...CALL)],
  text: "FINAL(bumped 1)",
  ran: 1,
  requests: 3,
  ...more,
});
const never = (fault: Answer, words: RegExp, requests = 1): Row => ({
  answers: Array.from({ length: 6 }, () => fault),
  text: words,
  ran: 0,
  requests,
});

const ROWS: Record<string, Row> = {
  // The way there.
  "no blank after data": raw(sse(CALL).replaceAll("data: ", "data:")),
  "CR LF": raw(sse(CALL).replaceAll("\n", "\r\n")),
  "a byte order mark": raw(`\ufeff${sse(CALL)}`),
  "no names of events": raw(sse(CALL).replaceAll(/^event: .*\n/gm, "")),
  "comments and pings": raw(`: hello\n\n${sse([START, PING, ...call(1), PING, done("tool_use"), STOP])}`),
  gzip: raw(gzipSync(sse(CALL)), { "content-type": "text/event-stream", "content-encoding": "gzip" }),
  "text/plain": typed("text/plain; charset=utf-8"),
  "application/json for a stream": typed("application/json"),
  "no media type of its own": typed("application/octet-stream"),
  "a JSON value a line": raw(CALL.map((one) => `${JSON.stringify(one)}\n`).join(""), {
    "content-type": "application/x-ndjson",
  }),
  "[DONE] at the end, as OpenAI has it": raw(`${sse(CALL)}data: [DONE]\n\n`),
  "no message_stop": raw(sse(CALL.slice(0, -1))),
  "small pieces": once({ body: sse(CALL), slow: true }),
  "a whole message": raw(whole([{ type: "tool_use", id: "t", name: "bump", input: { n: 1 } }], "tool_use"), {
    "content-type": "application/json",
  }),
  "a whole message for an event stream": raw(
    whole([{ type: "tool_use", id: "t", name: "bump", input: { n: 1 } }], "tool_use"),
  ),
  "broken off in a call": after({ body: sse(CALL.slice(0, 3)), cut: true }),
  "broken off after a call": after({ body: sse(CALL.slice(0, 4)), cut: true }),
  "broken off after the stop reason": once({ body: sse(CALL.slice(0, -1)), cut: true }),
  // Calls.
  "input in the start, as some proxies send it": once(
    say(
      START,
      begin(0, { type: "tool_use", id: "t", name: "bump", input: { n: 1 } }),
      end(0),
      done("tool_use"),
      STOP,
    ),
  ),
  "input in many pieces": once(
    say(START, ...call(1, { pieces: ["", '{"', "n", '":', "1", "}"] }), done("tool_use"), STOP),
  ),
  "no index": once({ body: sse(CALL).replaceAll(/"index":0,/g, "") }),
  "text, then the call": once(
    say(START, ...text("I bump."), ...call(1, { index: 1 }), done("tool_use"), STOP),
  ),
  "an empty text before it": once(say(START, ...text(""), ...call(1, { index: 1 }), done("tool_use"), STOP)),
  "stop reason end_turn in spite of a call": once(say(START, ...call(1), done("end_turn"), STOP)),
  "an id that the API would refuse": once(
    say(START, ...call(1, { id: "functions.bump:0" }), done("tool_use"), STOP),
  ),
  "no id": once(say(START, ...call(1, { id: "" }), done("tool_use"), STOP)),
  "three at once": {
    answers: [
      say(START, ...call(1), ...call(2, { index: 1 }), ...call(3, { index: 2 }), done("tool_use"), STOP),
    ],
    text: "FINAL(bumped 1 | bumped 2 | bumped 3)",
    ran: 3,
    requests: 2,
  },
  "the same id in each reply": {
    answers: [1, 2].map((n) => say(START, ...call(n, { id: "0" }), done("tool_use"), STOP)),
    text: "FINAL(bumped 1 | bumped 2)",
    ran: 2,
    requests: 3,
  },
  "arguments that were cut by max_tokens": {
    answers: [say(START, ...call(1, { pieces: ['{"n":'] }), done("max_tokens"), STOP), say(...CALL)],
    text: /FINAL\([\s\S]*not a JSON object[\s\S]* \| bumped 1\)/,
    ran: 1,
    requests: 3,
  },
  "a call whose arguments did not come before max_tokens": {
    answers: [say(START, ...call(1, { pieces: [] }), done("max_tokens"), STOP), say(...CALL)],
    text: /FINAL\([\s\S]*not a JSON object[\s\S]* \| bumped 1\)/,
    ran: 1,
    requests: 3,
  },
  "a name with what the model's format puts before it": once(
    say(START, ...call(1, { name: "functions.bump" }), done("tool_use"), STOP),
  ),
  "no arguments": {
    answers: [say(START, ...call(1, { pieces: [] }), done("tool_use"), STOP)],
    text: "FINAL(bumped undefined)",
    ran: 1,
    requests: 2,
  },
  "blocks that are not known": once(
    say(
      START,
      begin(0, { type: "server_tool_use", id: "s", name: "web_search", input: {} }),
      end(0),
      ...call(1, { index: 1 }),
      done("tool_use"),
      STOP,
    ),
  ),
  "a call written as text": {
    answers: [
      say(
        START,
        ...text('<tool_call>{"name":"bump","arguments":{"n":1}}</tool_call>'),
        done("end_turn"),
        STOP,
      ),
      say(...CALL),
    ],
    text: "FINAL(bumped 1)",
    ran: 1,
    requests: 3,
  },
  "thoughts in the text": {
    answers: [say(START, ...text("<think>Hm.</think>The lamp is on."), done("end_turn"), STOP)],
    text: "The lamp is on.",
    ran: 0,
    requests: 1,
  },
  // Ends.
  "a text that max_tokens cut": {
    answers: [say(START, ...text("The disk of the"), done("max_tokens"), STOP)],
    text: "The disk of the\n\n[The answer was cut: the model reached MAX_TOKENS.]",
    ran: 0,
    requests: 1,
  },
  "a thought alone, cut by max_tokens": never(
    say(
      START,
      begin(0, { type: "thinking", thinking: "", signature: "" }),
      delta(0, { type: "thinking_delta", thinking: "Hm" }),
      end(0),
      done("max_tokens"),
      STOP,
    ),
    /reached MAX_TOKENS while it thought/,
  ),
  "a refusal without a word": never(say(START, done("refusal"), STOP), /content filter/),
  "an empty reply, twice": never(say(START, done("end_turn"), STOP), /empty answer/, 2),
  "an empty reply once": after(say(START, done("end_turn"), STOP)),
  // Errors.
  "429 with a wait": after(error(429, "rate_limit_error", "slow down", { "retry-after": "0.01" })),
  "529 overloaded": after(error(529, "overloaded_error", "Overloaded", { "retry-after-ms": "5" })),
  "500 once": after(error(500, "api_error", "Internal server error")),
  "overloaded in the stream": after(
    say(START, {
      type: "error",
      error: { type: "api_error", message: "Overloaded soon, please retry in 5ms" },
    }),
  ),
  "a wrong key": never(error(401, "authentication_error", "invalid x-api-key"), /401: invalid x-api-key/),
  "no such model": never(error(404, "not_found_error", "model: claude-9"), /404: model: claude-9/),
  "no credit left": never(
    error(400, "invalid_request_error", "Your credit balance is too low"),
    /credit balance is too low/,
  ),
  "an error with status 200": never(
    { body: JSON.stringify({ type: "error", error: { type: "invalid_request_error", message: "no" } }) },
    /reported an error: no/,
  ),
  "a page of a proxy": never(
    { headers: { "content-type": "text/html" }, body: "<html>Welcome</html>" },
    /web page/,
  ),
  // A refused part is left out.
  "temperature is deprecated": after(
    error(400, "invalid_request_error", "`temperature` is deprecated for this model."),
    {
      settings: { temperature: 0.7 },
    },
  ),
  "cache_control is not permitted": after(
    error(400, "invalid_request_error", "system.0.cache_control: Extra inputs are not permitted"),
  ),
  "too many max_tokens": after(
    error(
      400,
      "invalid_request_error",
      "max_tokens: 64000 > 8192, which is the maximum allowed number of output tokens",
    ),
    { settings: { maxTokens: 64_000 } },
  ),
};

test.each(Object.entries(ROWS))("%s", async (_name, row) => {
  [asked, breaches, answers] = [[], [], row.answers];
  let ran = 0;
  const signal = new AbortController().signal;
  const settings: ModelSettings = {
    baseUrl: url,
    api: "anthropic",
    model: "claude",
    maxTokens: 1_000,
    habits: new HabitsInMemory(),
    ...row.settings,
  };
  const parameters = { type: "object", properties: { n: {} } };
  const result = await runLoop({
    system: "Be brief.",
    prompt: "Please bump",
    tools: [{ type: "function", function: { name: "bump", description: "Bumps", parameters } }],
    limits: DEFAULT_LIMITS,
    fit: { model: settings, limits: new ModelLimits() },
    model: (request) => callModel(settings, request),
    async runCall({ args }) {
      ran += 1;
      return { status: "success", text: `bumped ${args.n}`, elapsedMs: 1 };
    },
    signal,
  }).catch((cause: Error) => ({ text: cause.message }));
  if (typeof row.text === "string") expect(result.text).toBe(row.text);
  else expect(result.text).toMatch(row.text);
  expect({ ran, requests: asked.length }).toEqual({ ran: row.ran, requests: row.requests });
  expect(breaches).toEqual([]);
});
