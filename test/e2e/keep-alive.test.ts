/**
 * A client that waits long is kept alive, and the gateway soon notices that a client has left, also through the
 * compression that Miniflare adds for clients that accept it.
 */
import { request as httpRequest, type IncomingMessage } from "node:http";
import { expect, test } from "vitest";
import { type Step, script } from "../scripted-model.ts";
import { TOKENS } from "../tokens.ts";
import { until } from "../wait.ts";
import { useStack } from "./stack.ts";

const stack = useStack({}, async (stack) => {
  const env = { EDGECALL_TEST_TOOLS: "1", EDGECALL_TEST_FILE: "/dev/null" };
  await stack.startAgent({ id: "pi", env });
  await stack.gateway.online("pi");
});

const MEMORY: Step = { calls: [{ arguments: { agent_id: "pi", action: "memory" } }] };
const COMPRESSED = { "accept-encoding": "gzip, deflate, br, zstd" };

/** Sends a question on a new connection, as a client that accepts compressed answers. */
function send(path: string, body: Record<string, unknown>, headers: Record<string, string> = {}) {
  const pieces: string[] = [];
  const request = httpRequest(`${stack.gateway.url}${path}`, {
    method: "POST",
    agent: false,
    headers: { authorization: `Bearer ${TOKENS.owner}`, ...COMPRESSED, ...headers },
  });
  const text = Promise.withResolvers<string>();
  const answered = new Promise<IncomingMessage | undefined>((resolve) => {
    request.on("response", (response) => {
      response.on("data", (data: Buffer) => pieces.push(String(data)));
      response.on("end", () => text.resolve(pieces.join("")));
      response.on("error", () => {});
      resolve(response);
    });
    request.on("error", () => resolve(undefined));
  });
  request.end(JSON.stringify(body));
  return { answered, pieces, text: text.promise, leave: () => void request.destroy() };
}

const asking = (...steps: Step[]) => ({ messages: [{ role: "user", content: script(...steps) }] });
/** Returns how often the model got this question. */
const asked = ({ messages: [question] }: ReturnType<typeof asking>) =>
  stack.model.requests.filter(({ messages }) => messages.some(({ content }) => content === question?.content))
    .length;

test("G3 white space and comments reach a client that accepts compressed answers, each when it is sent", async () => {
  const json = send("/v1/chat/completions", asking({ hold: "long", step: { text: "at last" } }));
  const responses = send("/v1/responses", {
    input: script({ hold: "long", step: { text: "at last" } }),
  });
  const stream = send("/v1/chat/completions", {
    ...asking({ hold: "long", step: { text: "at last" } }),
    stream: true,
  });
  await until(() => json.pieces.length >= 2 && responses.pieces.length >= 2, { within: 15_000 });
  await until(() => stream.pieces.join("").includes(": keep-alive"), { within: 5_000 });
  for (const { answered } of [json, responses, stream])
    expect((await answered)?.headers).toMatchObject({
      "content-encoding": "identity",
      "cache-control": "no-store, no-transform",
    });
  expect(json.pieces.join("")).toMatch(/^ +$/);
  stack.model.release("long");
  expect(JSON.parse(await json.text)).toMatchObject({ edge: { status: "done" } });
}, 30_000);

test.each([
  ["an answer in JSON", false],
  ["a stream", true],
])(
  "G3 a client that leaves %s is soon noticed, and its turn is stopped",
  async (_, stream) => {
    const key = { "x-edge-conversation": `leaves-${stream}` };
    const body = asking({ hold: "for ever", step: { text: "never" } });
    const first = send("/v1/chat/completions", { ...body, stream }, key);
    await until(() => asked(body) === 1);
    first.leave();
    const left = Date.now();
    const next = await send("/v1/chat/completions", asking({ text: "next" }), key).text;
    expect(next).toContain('"content":"next"');
    expect(Date.now() - left).toBeLessThan(8_000);
  },
  30_000,
);

test("G2 after a silent break the second try gets the first one's turn, and the device acts once", async () => {
  const body = asking(MEMORY, { hold: "second try", step: { text: "It says: $results" } });
  const retry = (count: number) =>
    send("/v1/chat/completions", body, { "x-stainless-retry-count": String(count) });
  const first = retry(0);
  await until(() => asked(body) === 2);
  first.leave();
  const second = retry(1);
  await until(() => second.pieces.length > 0, { within: 15_000 });
  stack.model.release("second try");
  const answer = JSON.parse(await second.text);
  expect(answer.choices[0].message.content).toMatch(/^It says: .*RAM 50% used/s);
  expect(asked(body)).toBe(2);
  expect(answer.edge.calls).toHaveLength(1);
}, 30_000);

test("G2 twenty clients ask the same at once and retry: each has one turn", async () => {
  const body = asking({ hold: "twenty", step: { text: "mine" } });
  const all = Array.from({ length: 20 }, () =>
    send("/v1/chat/completions", body, { "x-stainless-retry-count": "1" }),
  );
  await until(() => asked(body) === 20, { within: 25_000 });
  stack.model.release("twenty");
  const turns = await Promise.all(all.map(async ({ text }) => JSON.parse(await text).edge.turn));
  expect(new Set(turns).size).toBe(20);
}, 40_000);
