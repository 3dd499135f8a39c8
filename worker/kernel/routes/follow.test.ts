/** The two streams of a page: all turns of a conversation, and the home's open questions. */
import { afterEach, expect, test } from "vitest";
import { modelRequest, releaseModel } from "../../../test/model-requests.ts";
import { script } from "../../../test/scripted-model.ts";
import { TOKENS } from "../../../test/tokens.ts";
import { until } from "../../../test/wait.ts";
import { agent, ask, CPU, say, TestBridge } from "../../../test/workerd.ts";
import { RECHECK } from "../http/object-stream.ts";

const RECHECK_MS = RECHECK.everyMs;
afterEach(() => {
  RECHECK.everyMs = RECHECK_MS;
});

const post = (path: string, body: object) => ask(path, { method: "POST", body: JSON.stringify(body) });

type Heard = { event: string; data: Record<string, unknown> };

/** Listens until the stream ends. @returns the events until then */
async function listen(path: string, token?: string) {
  const control = new AbortController();
  const response = await ask(path, { ...(token && { token }), signal: control.signal });
  expect(response.status).toBe(200);
  const heard: Heard[] = [];
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  const ended = (async () => {
    for (let part = await reader?.read(); part && !part.done; part = await reader?.read()) {
      const blocks = (rest + part.value).split("\n\n");
      rest = blocks.pop() ?? "";
      for (const block of blocks) {
        const match = /^(?:id: .*\n)?event: (.*)\ndata: (.*)$/s.exec(block);
        if (match?.[1] && match[2])
          heard.push({ event: match[1], data: JSON.parse(match[2]) as Record<string, unknown> });
      }
    }
  })();
  await until(() => heard[0]);
  return { heard, ended, leave: () => reader?.cancel() };
}

test("C4 a client that follows a conversation gets every turn, also later ones, each from its beginning", async () => {
  const bridge = await TestBridge.connect([agent("pi", { tools: [CPU] })]);
  bridge.onCall = () => ({ status: "success", result: "load 0.5" });
  const early = await listen("/v1/conversations/followed/events");
  const text = script(
    { calls: [{ arguments: { agent_id: "pi", action: "cpu" } }] },
    { text: "It is $results" },
  );
  await say("followed", text);
  await until(() => early.heard.find(({ event }) => event === "done"));
  expect(early.heard.map(({ event }) => event).filter((event) => event !== "delta")).toEqual([
    ...["open", "turn", "message", "call", "done"],
  ]);
  expect(early.heard[1]?.data).toMatchObject({ text, status: "running" });
  expect(new Set(early.heard.slice(1).map(({ data }) => data.turn)).size).toBe(1);
  await early.leave();
});

test("C4 a client that attached before a conversation began gets nothing of another person's", async () => {
  const guest = await listen("/v1/conversations/guessed/events", TOKENS.guest);
  await say("guessed", script({ text: "a secret" }));
  await guest.ended;
  expect(guest.heard.map(({ event }) => event)).toEqual(["open"]);
  expect((await ask("/v1/conversations/guessed/events", { token: TOKENS.guest })).status).toBe(404);
});

/** Makes a token of the home, with a way to revoke it. */
async function guestToken() {
  const body = { name: `guest-${crypto.randomUUID()}`, role: "guest", scopes: ["ask"] };
  const made = (await (await post("/v1/tokens", body)).json()) as { token: string; record: { id: string } };
  const revoke = () => ask(`/v1/tokens/${made.record.id}`, { method: "DELETE" });
  return { token: made.token, name: body.name, revoke };
}

test("S13 a turn's stream ends with its token, and when its conversation is no longer shared", async () => {
  RECHECK.everyMs = 50;
  const [revoked, unshared, still] = await Promise.all([guestToken(), guestToken(), guestToken()]);
  const hold = crypto.randomUUID();
  const begun = say("long-turn", script({ hold, step: { text: "a secret" } }));
  const turns = async () =>
    ((await (await ask("/v1/conversations/long-turn")).json()) as { turns?: Array<{ turn: string }> }).turns;
  const turn = (await until(async () => (await turns())?.[0])).turn;
  const share = (...guests: Array<{ name: string }>) =>
    post("/v1/conversations/long-turn/share", { with: guests.map(({ name }) => name) });
  await share(revoked, unshared, still);
  const paths = [`/v1/conversations/long-turn/turns/${turn}/events`, "/v1/conversations/long-turn/events"];
  const all = ({ token }: { token: string }) => Promise.all(paths.map((path) => listen(path, token)));
  const [gone, apart, there] = [await all(revoked), await all(unshared), await all(still)];
  await revoked.revoke();
  await share(still);
  await Promise.all([...gone, ...apart].map(({ ended }) => ended));
  await releaseModel(hold);
  await begun;
  await until(() => there.every(({ heard }) => heard.some(({ event }) => event === "done")));
  const ended = [...gone, ...apart].flatMap(({ heard }) => heard.filter(({ event }) => event === "done"));
  expect(ended).toEqual([]);
  await Promise.all(there.map(({ leave }) => leave()));
}, 20_000);

test("S13 an OpenAI stream, and a pending JSON answer, end with their token", async () => {
  RECHECK.everyMs = 50;
  for (const stream of [true, false]) {
    const guest = await guestToken();
    const hold = crypto.randomUUID();
    const messages = [{ role: "user", content: script({ hold, step: { text: "a secret" } }) }];
    const body = JSON.stringify({ model: "gpt-4o", messages, stream });
    const answer = ask("/v1/chat/completions", { method: "POST", body, token: guest.token });
    const text = answer.then((response) => response.text());
    await until(async () => (await modelRequest(messages[0]?.content ?? "")) !== undefined || undefined);
    await guest.revoke();
    expect(await text).not.toContain("a secret");
    await releaseModel(hold);
  }
}, 20_000);

test("S13 a pending text answer ends with its token", async () => {
  RECHECK.everyMs = 50;
  const guest = await guestToken();
  const hold = crypto.randomUUID();
  const question = script({ hold, step: { text: "a secret" } });
  const answer = ask("/ask", { method: "POST", body: question, token: guest.token });
  await until(async () => (await modelRequest(question)) !== undefined || undefined);
  await guest.revoke();
  const response = await answer;
  expect(response.status).toBe(401);
  expect(await response.text()).not.toContain("a secret");
  await releaseModel(hold);
}, 20_000);

test("C1 open questions are sent as a list after each change, to those who may see them", async () => {
  const owner = await listen("/v1/questions/events");
  const guest = await listen("/v1/questions/events", TOKENS.guest);
  const bridge = await TestBridge.connect([agent("rust", { foreign: true, features: [], tools: [] })]);
  bridge.onCall = () => ({
    status: "success",
    content: "done",
    tools_executed: [{ tool: "read_file", success: true }],
  });
  const query = { calls: [{ arguments: { agent_id: "rust", query: "open the door" } }] };
  const answer = say("asks", script(query, query, { text: "$results" }));
  const lists = () => owner.heard.map(({ data }) => data.questions as Array<{ id: string }>);
  const question = await until(() => lists().at(-1)?.[0]);
  expect(question).toMatchObject({ conversation: "asks", channel: "api", agent: "rust" });
  await post(`/v1/questions/${question.id}`, { answer: "approve" });
  await answer;
  await until(() => lists().at(-1)?.length === 0);
  expect(guest.heard.flatMap(({ data }) => data.questions)).toEqual([]);
  await Promise.all([owner.leave(), guest.leave()]);
});

test("a command's outcome is waited for as long as its caller wants", async () => {
  const bridge = await TestBridge.connect([agent("pi", { tools: [CPU] })]);
  bridge.onCall = () => undefined;
  const begun = await post("/v1/agents/pi/commands?wait=0", { command: "tool", payload: { tool: "cpu" } });
  expect(begun.status).toBe(202);
  const { request_id } = (await begun.json()) as { request_id: string };
  const waiting = ask(`/v1/agents/pi/commands/${request_id}?wait=20`);
  const call = await until(() => bridge.calls()[0]);
  bridge.report(call.id, "pi", { status: "success", result: "load 0.5" });
  expect(await (await waiting).json()).toMatchObject({ payload: { result: "load 0.5" } });
  for (const wrong of ["", "-1", "26", "soon"])
    expect((await ask(`/v1/agents/pi/commands/${request_id}?wait=${wrong}`)).status).toBe(400);
});
