/** Answers within a time: what a client is told whose turn takes longer, and how the result reaches it later. */
import { runInDurableObject } from "cloudflare:test";
import { approvalHash } from "@edgecall/core/protocol/approval.ts";
import { beforeEach, describe, expect, test } from "vitest";
import { modelRequest } from "../../../test/model-requests.ts";
import {
  assistant,
  type Completion,
  chat,
  chatNamed,
  events,
  post,
  user,
} from "../../../test/openai-requests.ts";
import { script } from "../../../test/scripted-model.ts";
import { TOKENS } from "../../../test/tokens.ts";
import { setVariables } from "../../../test/variables.ts";
import { until } from "../../../test/wait.ts";
import { agent, ask, CPU, SIREN, TestBridge } from "../../../test/workerd.ts";

const cpu = { calls: [{ arguments: { agent_id: "pi", action: "cpu" } }] };
const siren = { calls: [{ arguments: { agent_id: "pi", action: "siren" } }] };
const load = { text: "load: $results" };
const COMES = "The answer comes with your next message.";
const SLOW = `pi has not answered yet.\n${COMES}`;
const LINK = "https://gateway/#/waiting";
/** Seconds in which the turn begins its call, also on a busy machine. */
const brief = { edge: { wait: 2 } };

let bridge: TestBridge;
/** The device gets calls, and is silent until the test reports. */
beforeEach(async () => {
  bridge = await TestBridge.connect([agent("pi", { tools: [CPU, SIREN] })]);
}, 20_000);

async function answers(result: string): Promise<void> {
  const call = await until(() => bridge.calls().at(-1));
  bridge.report(call.id, "pi", { status: "success", result });
}

async function asksApproval(): Promise<void> {
  const { id } = await until(() => bridge.calls().at(-1));
  const hash = await approvalHash("pi", "siren", {});
  const approval = { tool: "siren", parameters: {}, reason: "the policy says ask", hash };
  const event = {
    type: "question",
    request_id: id,
    question_id: "q",
    text: "May I?",
    approval,
    expires_in_ms: 60_000,
  };
  bridge.send({ t: "event", id, agent: "pi", payload: JSON.stringify(event) });
}

const textOf = (body: Completion) => body.choices[0]?.message.content;
const named = () => ({ user: crypto.randomUUID() });

/** True while a client follows a turn in the chat. */
async function isFollowed({ user }: { user: string }): Promise<boolean> {
  const conversation = await chatNamed(`user:${user}`);
  return await runInDurableObject(conversation, (_, ctx) => ctx.getWebSockets().length > 0);
}

async function ended(turn: string, of: string): Promise<Record<string, unknown>> {
  return await until(
    async () => {
      const found = (await (await ask(of)).json()) as { status: string };
      return ["running", "in_progress"].includes(found.status) ? undefined : found;
    },
    { what: `the end of ${turn}` },
  );
}

describe.each([
  ["in a named chat", named],
  ["in a chat without a name", () => ({})],
])("a slow device, %s", (_, nameOf) => {
  test("the client is told in time, and the next answer has the result, once", async () => {
    const name = nameOf();
    const question = script(cpu, load);
    const first = await chat([user(question)], { ...brief, ...name });
    expect(textOf(first.body)).toBe(SLOW);
    expect(first.body.edge).toMatchObject({
      status: "running",
      waiting: { calls: [{ name: "edge_call", agent: "pi", action: "cpu" }], questions: [] },
    });
    await answers("7 %");
    const { response, turn } = first.body.edge as { response?: string; turn: string };
    expect(await ended(turn, `/v1/responses/${response}`)).toMatchObject({ status: "completed" });
    const next = script({ text: "on" });
    const history = [user(question), assistant(SLOW)];
    const second = await chat([...history, user(next)], { ...brief, ...name });
    expect(textOf(second.body)).toMatch(/^on\n\nTo ".*": load: 7 %$/);
    // The model is shown what happened, not what the client was told meanwhile.
    const shown = JSON.stringify((await modelRequest(next))?.messages);
    expect(shown).toContain("load: 7 %");
    expect(shown).not.toContain("not answered yet");
    const third = script({ text: "further" });
    const last = await chat([...history, user(next), assistant(textOf(second.body)), user(third)], name);
    expect(textOf(last.body)).toBe("further");
  });

  test("asked again before the device answers, the client hears so, and later gets both answers", async () => {
    const name = nameOf();
    const question = script(cpu, load);
    await chat([user(question)], { ...brief, ...name });
    const next = script({ text: "on" });
    const history = [user(question), assistant(SLOW), user(next)];
    const second = await chat(history, { ...brief, ...name });
    const told = `Your earlier question comes first.\n${SLOW}`;
    expect(textOf(second.body)).toBe(told);
    await answers("8 %");
    await ended("the second", `/v1/responses/${(second.body.edge as { response?: string }).response}`);
    const third = await chat([...history, assistant(told), user(script({ text: "further" }))], name);
    expect(textOf(third.body)).toMatch(/^further\n\nTo ".*": load: 8 %\n\nTo ".*": on$/);
  });
});

describe("at OpenAI's door", () => {
  test("an approval: a link leads to it, and the approved result follows once", async () => {
    const name = named();
    const waiting = chat([user(script(siren, load))], { ...brief, ...name });
    await asksApproval();
    const { body } = await waiting;
    expect(textOf(body)).toBe(`Run siren on pi? That waits for your approval: ${LINK}\n${COMES}`);
    const { waiting: waits } = body.edge as unknown as {
      waiting: { questions: Array<{ id: string; link: string; approval: boolean }> };
    };
    expect(waits.questions).toMatchObject([
      { agent: "pi", text: "Run siren on pi?", approval: true, link: LINK },
    ]);
    const answer = JSON.stringify({ answer: "approve" });
    const id = waits.questions[0]?.id ?? "";
    // A model may hold a client's token, so that one approves nothing.
    expect(
      (await ask(`/v1/questions/${id}`, { method: "POST", body: answer, token: TOKENS.guest })).status,
    ).not.toBe(200);
    bridge.onCall = ({ id: order }) => {
      bridge.report(order, "pi", { status: "answered" });
      const call = bridge.calls().find(({ payload }) => payload.includes("siren"));
      bridge.report(call?.id ?? "", "pi", { status: "success", result: "it sounds" });
      return undefined;
    };
    expect((await ask(`/v1/questions/${id}`, { method: "POST", body: answer })).status).toBe(200);
    const next = await chat([user(script({ text: "on" }))], name);
    expect(textOf(next.body)).toMatch(/^on\n\nTo ".*": load: it sounds$/);
    expect(textOf((await chat([user(script({ text: "further" }))], name)).body)).toBe("further");
  });

  test("streamed: what was said stays, and words of the model are not cut off", async () => {
    const name = named();
    const messages = [user(script({ ...cpu, text: "Let me look." }, load))];
    const response = await post("/v1/chat/completions", { stream: true, messages, ...brief, ...name });
    const { data, text } = await events(response);
    const said = (data as Array<{ choices: Array<{ delta: { content?: string } }> }>)
      .flatMap(({ choices }) => choices[0]?.delta.content ?? [])
      .join("");
    expect(said).toBe(`Let me look.\n\n${SLOW}`);
    expect(data.at(-1)).toMatchObject({ edge: { status: "running", waiting: { calls: [{ agent: "pi" }] } } });
    expect(text.endsWith("data: [DONE]\n\n")).toBe(true);
    await answers("7 %");
    const next = await chat([...messages, assistant(said), user(script({ text: "on" }))], name);
    expect(textOf(next.body)).toMatch(/^on\n\nTo ".*": load: 7 %$/);
    const slow = script({ text: "one two three four", pieces: 4, everyMs: 1_000 });
    const spoken = await events(
      await post("/v1/chat/completions", { stream: true, messages: [user(slow)], ...brief }),
    );
    expect(spoken.data.at(-1)).toMatchObject({ edge: { status: "done" } });
  });

  test("a response is in progress, with the words as its text, and is there later", async () => {
    const body = { input: script(cpu, load), ...brief };
    const first = (await (await post("/v1/responses", body)).json()) as { id: string; output: unknown[] };
    expect(first).toMatchObject({ status: "in_progress", edge: { waiting: { calls: [{ agent: "pi" }] } } });
    expect(first.output.at(-1)).toMatchObject({ type: "message", content: [{ text: SLOW }] });
    await answers("7 %");
    await ended("the response", `/v1/responses/${first.id}`);
    const next = { input: script({ text: "on" }), previous_response_id: first.id };
    const { output } = (await (await post("/v1/responses", next)).json()) as {
      output: Array<{ content: unknown }>;
    };
    expect(output.at(-1)?.content).toMatchObject([
      { text: expect.stringMatching(/^on\n\nTo ".*": load: 7 %$/) },
    ]);
  });

  test("the model for voice waits VOICE_WAIT_S, and is told that it speaks", async () => {
    setVariables({ VOICE_WAIT_S: "1" });
    const question = script(cpu, load);
    const { body } = await chat([user(question)], { model: "edgecall-voice", ...named() });
    expect(textOf(body)).toBe(SLOW);
    expect(JSON.stringify((await modelRequest(question))?.messages[0])).toContain("read aloud");
    await answers("7 %");
    const { data } = (await (await ask("/v1/models")).json()) as { data: Array<{ id: string }> };
    expect(data.slice(0, 2).map(({ id }) => id)).toEqual(["edgecall", "edgecall-voice"]);
  });

  test("a client that hangs up earlier does not stop the turn, and gets the result next time", async () => {
    const name = named();
    const body = { stream: true, messages: [user(script(cpu, load))], edge: { wait: 60 }, ...name };
    const { body: stream } = await post("/v1/chat/completions", body);
    await until(() => bridge.calls().at(-1));
    expect(await isFollowed(name)).toBe(true);
    await stream?.cancel();
    await until(async () => !(await isFollowed(name)), {
      what: "the conversation knows that the client has left",
    });
    await answers("7 %");
    const next = await chat([user(script({ text: "on" }))], name);
    expect(textOf(next.body)).toMatch(/^on\n\nTo ".*": load: 7 %$/);
  });

  test.each([
    [{ wait: -1 }, "edge.wait"],
    [{ wait: 1.5 }, "edge.wait"],
    [{ wait: 601 }, "edge.wait"],
    [{ wait: "15" }, "edge.wait"],
    [{ wait: null }, "edge.wait"],
    [{ weit: 15 }, "edge.weit"],
    [15, "edge"],
    [[], "edge"],
  ])("%j is refused by name", async (edge, param) => {
    for (const [path, question] of [
      ["/v1/chat/completions", { messages: [user("hi")] }],
      ["/v1/responses", { input: "hi" }],
    ] as const) {
      const response = await post(path, { ...question, edge });
      expect(response.status).toBe(400);
      const { error } = (await response.json()) as Completion;
      expect(error).toMatchObject({ param, message: expect.stringContaining(`${param}: `) });
    }
  });
});

describe("over /v1", () => {
  const say = async (id: string, text: string, prefer?: string) =>
    await ask(`/v1/conversations/${id}/messages`, {
      method: "POST",
      body: JSON.stringify({ text }),
      ...(prefer !== undefined && { headers: { prefer } }),
    });

  test("Prefer: wait gives 202 with what waits, and the next message has the earlier turn, once", async () => {
    const id = `wait-${crypto.randomUUID()}`;
    const first = await say(id, script(cpu, load), "respond-async, wait=3");
    expect([first.status, first.headers.get("preference-applied")]).toEqual([202, "wait=3"]);
    const body = (await first.json()) as { turn: string };
    expect(body).toMatchObject({
      status: "running",
      meanwhile: SLOW,
      waiting: { calls: [{ agent: "pi", action: "cpu" }] },
    });
    await answers("7 %");
    await ended(body.turn, `/v1/conversations/${id}/turns/${body.turn}`);
    const next = await say(id, script({ text: "on" }), "wait=20");
    expect(next.status).toBe(200);
    expect(await next.json()).toMatchObject({
      answer: "on",
      earlier: [{ turn: body.turn, status: "done", answer: "load: 7 %" }],
    });
    expect(await (await say(id, script({ text: "further" }))).json()).not.toHaveProperty("earlier");
  });

  test("/ask gives an address, which has the answer later, for those who may see it", async () => {
    const prefer = { headers: { prefer: "wait=3" } };
    const response = await ask("/ask", { method: "POST", body: script(cpu, load), ...prefer });
    expect([response.status, response.headers.get("preference-applied")]).toEqual([202, "wait=3"]);
    const path = response.headers.get("location") ?? "";
    expect(await response.text()).toBe(
      `pi has not answered yet.\nThe answer will be at https://gateway${path}\n`,
    );
    const running = await ask(path);
    expect(running.status).toBe(202);
    expect(await running.json()).toMatchObject({ status: "running", meanwhile: "pi has not answered yet." });
    await answers("7 %");
    expect(await ended("the question", path)).toMatchObject({ status: "done", answer: "load: 7 %" });
    expect((await ask(path, { token: TOKENS.guest })).status).toBe(404);
    expect((await ask(path, { token: TOKENS.otherHome })).status).toBe(404);
    expect((await ask(`/v1/ask/${crypto.randomUUID()}`)).status).toBe(404);
  });

  test.each(["wait", "wait=", "wait=-1", "wait=1.5", "wait=601", "wait=soon", "respond-async, wait=x"])(
    "Prefer: %s is refused by name, and asks nothing",
    async (prefer) => {
      const id = `wait-${crypto.randomUUID()}`;
      for (const response of [
        await say(id, "hi", prefer),
        await ask("/ask", { method: "POST", body: "hi", headers: { prefer } }),
      ]) {
        expect(response.status).toBe(400);
        expect(await response.text()).toContain("prefer: expected wait=N, whole seconds from 0 to 600");
      }
      expect((await ask(`/v1/conversations/${id}`)).status).toBe(404);
    },
  );
});
