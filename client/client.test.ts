/** The client against a server of this test: what it sends, how it fails, and that a lost connection asks nothing twice. */
import { getEventListeners } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, expect, test, vi } from "vitest";
import { Client, NoAnswerError, ResponseError } from "./client.ts";
import { ask, startTurn, turnEvents } from "./turns.ts";

type Seen = { method: string; url: string; headers: IncomingMessage["headers"]; body: string };

const ends: Array<() => void> = [];
afterEach(() => {
  for (const end of ends.splice(0)) end();
});

/** @param answers one handler for each request, in order; the last one answers all others */
async function serve(...answers: Array<(response: ServerResponse, seen: Seen) => void>) {
  const seen: Seen[] = [];
  const server = createServer(async (request, response) => {
    let body = "";
    for await (const part of request) body += part;
    const { method = "", url = "", headers } = request;
    seen.push({ method, url, headers, body });
    answers[Math.min(seen.length, answers.length) - 1]?.(response, seen.at(-1) as Seen);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  ends.push(() => {
    server.closeAllConnections();
    server.close();
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { seen, client: new Client({ url: `${url}/`, token: "t" }) };
}

const json =
  (status: number, value: unknown, headers = {}) =>
  (response: ServerResponse) =>
    response.writeHead(status, { "content-type": "application/json", ...headers }).end(JSON.stringify(value));
const TURN = "6f8f2f5e-0000-4000-8000-000000000000";
const event = (name: string, data: unknown, id?: number) =>
  `${id === undefined ? "" : `id: ${id}\n`}event: ${name}\ndata: ${JSON.stringify(data)}\n\n`;
const DONE = { turn: TURN, status: "done", answer: "42", calls: [] };
const stream = (response: ServerResponse) => response.writeHead(200, { "content-type": "text/event-stream" });

test("path, query, headers and body are sent as the operation has them; what is undefined is left out", async () => {
  const { seen, client } = await serve(json(200, { agents: [] }), (response) =>
    response.writeHead(204).end(),
  );
  await client.json("GET /v1/agents", { query: { limit: 5, q: "a b&c", after: undefined } });
  const done = await client.json("POST /v1/agents/{agent}/accept-text", {
    path: { agent: "a/b" },
    body: { line: "x" },
  });
  expect(done).toBeUndefined();
  expect(seen.map(({ method, url, body }) => [method, url, body])).toEqual([
    ["GET", "/v1/agents?limit=5&q=a+b%26c", ""],
    ["POST", "/v1/agents/a%2Fb/accept-text", '{"line":"x"}'],
  ]);
  expect(seen[0]?.headers.authorization).toBe("Bearer t");
});

test("errors: the gateway's own, a proxy's page, and no answer at all", async () => {
  const own = { error: { code: "agent_busy", message: "it is busy" } };
  const { client } = await serve(json(429, own, { "retry-after": "7" }), (response) =>
    response.writeHead(502).end("<html>"),
  );
  const error = await client.json("GET /v1/status").catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(ResponseError);
  expect(error).toMatchObject({ status: 429, code: "agent_busy", message: "it is busy", retryAfter: 7 });
  await expect(client.json("GET /v1/status")).rejects.toMatchObject({ status: 502, code: undefined });
  ends.splice(0).forEach((end) => {
    end();
  });
  await expect(client.json("GET /v1/status")).rejects.toBeInstanceOf(NoAnswerError);
});

test("a turn goes on over lost connections: one key, and from the last event that came", async () => {
  const { seen, client } = await serve(
    (response) => response.destroy(),
    (response) => {
      stream(response).write(event("turn", { turn: TURN, status: "running" }));
      response.write(event("message", { text: "so", calls: [] }, 3), () => response.destroy());
    },
    (response) => stream(response).end(event("done", DONE, 4)),
  );
  const names: string[] = [];
  for await (const one of turnEvents(client, "kitchen", { text: "hi" })) names.push(one.event);
  expect(names).toEqual(["turn", "message", "reset", "done"]);
  const [first, second, third] = seen;
  expect(first?.headers["idempotency-key"]).toMatch(/^[0-9a-f-]{36}$/);
  expect(second?.headers["idempotency-key"]).toBe(first?.headers["idempotency-key"]);
  expect(third?.url).toBe(`/v1/conversations/kitchen/turns/${TURN}/events`);
  expect(third?.headers["last-event-id"]).toBe("3");
});

test("a stream has its events with their types, and ends as lost when it breaks off or is silent", async () => {
  const list = { questions: [], total: 0 };
  const { client } = await serve(
    (response) => stream(response).write(event("questions", list), () => response.destroy()),
    (response) => stream(response).write(event("questions", list, 7)),
  );
  const broken = client.events("GET /v1/questions/events", {});
  expect((await broken.next()).value?.data.total).toBe(0);
  await expect(broken.next()).rejects.toBeInstanceOf(NoAnswerError);
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  ends.push(() => vi.useRealTimers());
  const silent = client.events("GET /v1/questions/events", {});
  expect((await silent.next()).value).toEqual({ id: 7, event: "questions", data: list });
  const lost = expect(silent.next()).rejects.toBeInstanceOf(NoAnswerError);
  await vi.advanceTimersByTimeAsync(45_000);
  await lost;
});

test("a stream that its reader stops ends with the reader's reason, and another program's answer is told", async () => {
  const { client } = await serve(
    (response) => stream(response).write(event("questions", {})),
    (response) => stream(response).end("data: <html>\n\n"),
  );
  const stop = new AbortController();
  const events = client.events("GET /v1/questions/events", { signal: stop.signal });
  await events.next();
  const stopped = expect(events.next()).rejects.toThrow("enough");
  stop.abort(new Error("enough"));
  await stopped;
  const foreign = client.events("GET /v1/questions/events", {}).next();
  await expect(foreign).rejects.toThrow(/questions\/events answered with something else/);
});

test("a message whose answer was lost is sent again under its key, and nobody follows its turn", async () => {
  const { seen, client } = await serve(
    (response) => response.destroy(),
    (response) => stream(response).write(event("turn", { turn: TURN, status: "running" })),
  );
  expect(await startTurn(client, "kitchen", { text: "hi" })).toBe(TURN);
  const keys = seen.map(({ headers }) => headers["idempotency-key"]);
  expect(keys).toEqual([keys[0], keys[0]]);
});

/** Pauses of the client pass at once; fetch has timers of its own. @returns them, in ms */
function withoutPauses(): number[] {
  const pauses: number[] = [];
  const later = globalThis.setTimeout;
  vi.stubGlobal("setTimeout", (run: (...given: unknown[]) => void, ms: number, ...given: unknown[]) => {
    const isPause = [300, 600, 1_200, 2_400, 4_800, 5_000, 7_000].includes(ms);
    if (isPause) pauses.push(ms);
    return later(run, isPause ? 0 : ms, ...given);
  });
  ends.push(() => vi.unstubAllGlobals());
  return pauses;
}

test("a gateway that repeats the same events and breaks off each time is given up", async () => {
  withoutPauses();
  const { seen, client } = await serve((response) => {
    stream(response).write(event("turn", { turn: TURN, status: "running" }));
    response.write(event("message", { text: "so", calls: [] }, 3), () => response.destroy());
  });
  const all = async () => {
    for await (const _ of turnEvents(client, "kitchen", { text: "hi" })) if (seen.length > 40) return;
  };
  await expect(all()).rejects.toBeInstanceOf(NoAnswerError);
  expect(seen.length).toBeLessThan(20);
});

test("too many requests: it is sent again under its key after Retry-After, unless that is too long", async () => {
  const pauses = withoutPauses();
  const busy = (seconds: string) =>
    json(429, { error: { code: "rate_limited", message: "slowly" } }, { "retry-after": seconds });
  const { seen, client } = await serve(
    busy("7"),
    (response) =>
      stream(response).end(event("turn", { turn: TURN, status: "done" }) + event("done", DONE, 1)),
    busy("3600"),
  );
  const stop = new AbortController();
  const events: string[] = [];
  for await (const one of turnEvents(client, "kitchen", { text: "hi" }, stop.signal)) events.push(one.event);
  expect([events, pauses]).toEqual([["turn", "done"], [7_000]]);
  expect(seen[1]?.headers["idempotency-key"]).toBe(seen[0]?.headers["idempotency-key"]);
  // A program's signal lives longer than a turn.
  expect(getEventListeners(stop.signal, "abort")).toEqual([]);
  const refused = turnEvents(client, "kitchen", { text: "hi" }).next();
  await expect(refused).rejects.toMatchObject({ status: 429, retryAfter: 3_600 });
  expect(seen).toHaveLength(3);
});

test("a refusal is not tried again", async () => {
  const { seen, client } = await serve(json(403, { error: { code: "forbidden", message: "no" } }));
  await expect(turnEvents(client, "kitchen", { text: "hi" }).next()).rejects.toMatchObject({ status: 403 });
  expect(seen).toHaveLength(1);
});

test("ask answers each question once, and minds nobody who was faster", async () => {
  const question = {
    id: TURN,
    call: "c",
    agent: "pi",
    text: "May I?",
    options: ["yes", "no"],
    expires_at: 1,
  };
  const { seen, client } = await serve((response, { url }) => {
    if (url.startsWith("/v1/questions/"))
      return void json(409, { error: { code: "answered", message: "it is answered" } })(response);
    stream(response).write(event("turn", { turn: TURN, status: "running" }));
    response.write(event("question", question, 1) + event("question", { ...question, answer: "yes" }, 2));
    response.end(event("delta", { text: "4", at: 0 }) + event("done", DONE, 3));
  });
  const texts: string[] = [];
  const result = await ask(
    client,
    "kitchen",
    { text: "hi" },
    { answer: () => "yes", text: (text) => texts.push(text) },
  );
  expect([result.answer, texts]).toEqual(["42", ["4"]]);
  expect(seen.map(({ url, body }) => [url, body])).toEqual([
    ["/v1/conversations/kitchen/messages", '{"text":"hi"}'],
    [`/v1/questions/${TURN}`, '{"answer":"yes"}'],
  ]);
});
