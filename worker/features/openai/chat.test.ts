import { NO_TOOL_CALLED } from "@edgecall/core/loop/history.ts";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { openaiBody, openaiHeader } from "../../../test/hostile/lookalikes.ts";
import { modelCalls, modelRequest, releaseModel } from "../../../test/model-requests.ts";
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
import { storedTurns } from "../../../test/stopping.ts";
import { TOKENS } from "../../../test/tokens.ts";
import { until } from "../../../test/wait.ts";
import { agent, ask, CPU, SIREN, TestBridge } from "../../../test/workerd.ts";

/** The first test waits for workerd, which is slow on a busy machine. */
const COLD_START_MS = 20_000;
const cpu = { calls: [{ arguments: { agent_id: "pi", action: "cpu" } }] };

async function pi(tools = [CPU]) {
  const features = ["tool", "prompt", "cancel", "ack", "question"];
  const bridge = await TestBridge.connect([agent("pi", { features, tools })]);
  bridge.onCall = () => ({ status: "success", result: "7 %" });
  return bridge;
}

type Chunk = {
  id: string;
  choices: Array<{ delta: Record<string, string>; finish_reason: string | null }>;
  usage?: Record<string, number>;
  edge?: Record<string, unknown>;
  edgecall?: { asked: false };
  error?: { code: string; message: string };
};

async function streamed(messages: unknown[], more: Record<string, unknown> = {}, headers = {}) {
  const body = { model: "m", stream: true, messages, ...more };
  const response = await post("/v1/chat/completions", body, { headers });
  const { text, data } = await events(response);
  const chunks = data as Chunk[];
  const joined = (field: string) =>
    chunks.flatMap((chunk) => chunk.choices?.[0]?.delta[field] ?? []).join("");
  return { response, text, chunks, content: joined("content"), reasoning: joined("reasoning_content") };
}

/** Asks after these messages, and returns what the model was shown. */
async function shown(
  answer: string,
  before: unknown[],
  more = {},
  headers = {},
  token: string = TOKENS.owner,
) {
  const question = script({ text: answer });
  const messages = [...before, user(question)];
  const response = await post("/v1/chat/completions", { messages, ...more }, { headers, token });
  expect(((await response.json()) as Completion).choices[0]?.message.content).toBe(answer);
  const request = await modelRequest(question);
  if (!request) throw new Error("the model was not asked");
  return { ...request, headers: response.headers, text: JSON.stringify(request.messages) };
}

describe("a device's answer", () => {
  test(
    "not streamed: with the calls as reasoning, usage, and the additional fields",
    async () => {
      await pi();
      const { status, body } = await chat([user(script(cpu, { text: "load: $results" }))]);
      expect(status).toBe(200);
      expect(body.choices[0]?.message.content).toBe("load: 7 %");
      expect(body.choices[0]?.message.reasoning_content).toMatch(/^✓ pi · cpu \d+ ms\n$/);
      expect(body.choices[0]?.finish_reason).toBe("stop");
      expect(body.usage).toEqual({ prompt_tokens: 20, completion_tokens: 10, total_tokens: 30 });
      expect(body.edge).toMatchObject({ status: "done", calls: [{ agent: "pi", action: "cpu" }] });
    },
    COLD_START_MS,
  );

  test("streamed: the role first, no named event, no tool_calls, and usage on request", async () => {
    await pi();
    const question = script({ ...cpu, text: "Let me look." }, { text: "load: $results" });
    const options = { stream_options: { include_usage: true } };
    const { text, chunks, content, reasoning, response } = await streamed([user(question)], options);
    expect(response.headers.get("content-type")).toBe("text/event-stream");
    expect(chunks[0]?.choices[0]?.delta).toEqual({ role: "assistant", content: "" });
    expect(content).toBe("Let me look.\n\nload: 7 %");
    expect(reasoning).toMatch(/^→ pi · cpu\n✓ pi · cpu \d+ ms\n$/);
    expect(text).not.toMatch(/^event:|tool_calls/m);
    expect(text.endsWith("data: [DONE]\n\n")).toBe(true);
    expect(chunks.at(-2)?.choices[0]?.finish_reason).toBe("stop");
    expect(chunks.at(-1)).toMatchObject({ choices: [], usage: { total_tokens: 30 } });
    expect(new Set(chunks.map(({ id }) => id)).size).toBe(1);
  });

  test("is told apart from an answer for which no device was asked", async () => {
    await pi();
    const made = await chat([user(script({ text: "about 7 %" }))]);
    expect(made.body.edgecall).toEqual({ asked: false });
    const { chunks } = await streamed([user(script({ text: "about 7 %" }))]);
    expect(chunks.at(-1)).toMatchObject({ edgecall: { asked: false } });
    const asked = await chat([user(script(cpu, { text: "load: $results" }))]);
    expect(asked.body).not.toHaveProperty("edgecall");
    const refused = await chat([user(script({ text: "no tools" }))], { tool_choice: "none" });
    expect(refused.body).not.toHaveProperty("edgecall");
  });

  test("L15: in words for which the device's model called no tool says so to model and person", async () => {
    const bridge = await pi();
    bridge.onCall = () => ({ status: "success", content: "Done!", calls: [], asked: false });
    const query = { calls: [{ arguments: { agent_id: "pi", query: "clean up" } }] };
    const { body } = await chat([user(script(query, { text: "$results" }))]);
    expect(body.choices[0]?.message.content).toBe(`[${NO_TOOL_CALLED}]\nDone!`);
    expect(body.choices[0]?.message.reasoning_content).toMatch(
      /^– pi · "clean up" \d+ ms: .* called no tool/,
    );
    expect(body.edge).toMatchObject({ calls: [{ agent: "pi", status: "success", asked: false }] });
  });

  test("without the trace, if the client asks for that", async () => {
    await pi();
    const headers = { "x-edge-trace": "off" };
    const { reasoning, content } = await streamed([user(script(cpu, { text: "ok" }))], {}, headers);
    expect([reasoning, content]).toEqual(["", "ok"]);
    const { body } = await chat([user(script(cpu, { text: "ok" }))], {}, headers);
    expect(body.choices[0]?.message).not.toHaveProperty("reasoning_content");
  });

  test("a failed turn ends in words with status 200, because an error would make the client run it again", async () => {
    const fault = { status: 401, body: { error: { message: "wrong key" } } };
    const { status, body } = await chat([user(script(fault, fault, fault, fault))]);
    expect(status).toBe(200);
    expect(body.choices[0]?.message.content).toContain("wrong key");
    expect(body.edge.status).toBe("failed");
    const { content, chunks } = await streamed([user(script(fault, fault, fault, fault))]);
    expect(content).toContain("wrong key");
    expect(chunks.at(-1)?.edge).toMatchObject({ status: "failed" });
  });

  test("a step that is retried during the stream ends with an error, and the turn is stopped", async () => {
    const question = script({ breakOff: true }, { hold: "again", step: { text: "whole" } });
    const { chunks, response, content } = await streamed([user(question)], { user: "breaks" });
    expect(content).toBe("I begin ");
    expect(chunks.at(-1)?.error).toMatchObject({ code: "step_retried" });
    await releaseModel("again");
    expect(response.headers.get("x-edge-conversation")).toBe("user:breaks");
    const next = await shown("on", [], { user: "breaks" });
    expect(next.text).toMatch(/"content":"Cancelled/);
  });

  test("a client that closes the connection ends the turn", async () => {
    const bridge = await pi();
    bridge.onCall = () => undefined;
    const body = { stream: true, messages: [user(script(cpu, { text: "never" }))], user: "leaves" };
    const response = await post("/v1/chat/completions", body);
    await until(() => bridge.calls().length > 0);
    await response.body?.cancel();
    await until(async () => {
      const next = await chat([user(script({ text: "on" }))], { user: "leaves" });
      return next.body.choices[0]?.message.content === "on";
    });
  });
});

test("an approval is shown with its address, given elsewhere, and the answer continues", async () => {
  const bridge = await TestBridge.connect([agent("rust", { foreign: true, features: [], tools: [] })]);
  bridge.onCall = () => ({
    status: "success",
    content: "done",
    tools_executed: [{ tool: "read_file", success: true }],
  });
  const query = { calls: [{ arguments: { agent_id: "rust", query: "open the door" } }] };
  const answer = streamed([user(script(query, query, { text: "$results" }))], { user: "approves" });
  const questions = async () =>
    ((await (await ask("/v1/questions")).json()) as { questions: Array<{ id: string; channel: string }> })
      .questions;
  const question = await until(async () => (await questions()).find(({ channel }) => channel === "openai"));
  await post(`/v1/questions/${question.id}`, { answer: "approve" });
  const { reasoning, content } = await answer;
  expect(reasoning).toContain("? Send this to rust? (answer in the console");
  expect(reasoning).toContain(`https://gateway/v1/questions/${question.id}`);
  expect(content).toBe("done | done");
});

describe("which conversation", () => {
  const keyed: Array<[string, Record<string, unknown>, Record<string, string>, string]> = [
    ["our header", { user: "u" }, { "x-edge-conversation": "e1", "x-openwebui-chat-id": "o" }, "e1"],
    ["Open WebUI's", { user: "u" }, { "x-openwebui-chat-id": "o1", "x-conversation-id": "c" }, "o1"],
    ["LibreChat's", { metadata: { conversation_id: "m" } }, { "x-conversation-id": "c1" }, "c1"],
    ["a session", {}, { "x-session-id": "s1" }, "s1"],
    ["metadata", { user: "u", metadata: { conversation_id: "m1" } }, {}, "m1"],
    ["the user", { user: "u1" }, {}, "user:u1"],
    ["not one without an id yet", { user: "u2" }, { "x-conversation-id": "new" }, "user:u2"],
  ];
  test.each(keyed)(
    "%s names it, and our own history counts in it unless the client sends its own",
    async (_, more, headers, key) => {
      const first = await chat([user(script({ text: "first" }))], more, headers);
      expect(first.headers.get("x-edge-conversation")).toBe(key);
      expect(first.body.metadata).toEqual({ conversation_id: key });
      // A client that sends the whole chat each time shows with a single message that the chat is new.
      const isWhole = "x-openwebui-chat-id" in headers ? key === "o1" : key === "c1";
      const second = await shown("second", [], more, headers);
      expect(second.text.includes('"content":"first"')).toBe(!isWhole);
      // The returned id leads to it too, and another token's does not.
      const named = { "x-edge-conversation": key };
      expect((await shown("third", [], {}, named)).text).toContain('"content":"second"');
      expect((await shown("fourth", [], {}, named, TOKENS.guest)).text).not.toContain("third");
      const told = await shown("fifth", [user("a"), assistant("what was never said")], {}, named);
      expect(told.text).toContain("never said");
      expect(told.text).not.toContain('"content":"second"');
    },
  );

  test("without a name the request's own history counts, with the client's instructions below ours", async () => {
    const before = [{ role: "system", content: "Talk like a pirate." }, user("one"), assistant("two")];
    const first = await shown("third", before);
    expect(first.headers.get("x-edge-conversation")).toBeNull();
    expect(first.messages.map(({ role }) => role)).toEqual(["system", "user", "assistant", "user"]);
    expect(first.messages[0]?.content).toMatch(/^You answer questions[\s\S]*\n\nTalk like a pirate\./);
    // Again: no row of the first request is added to the second one's history.
    expect((await shown("x", before)).messages).toHaveLength(4);
  });

  test("of a history that does not fit, the model gets the newer end", async () => {
    const before = Array.from({ length: 60 }, (_, at) => [
      user(`question ${at} ${"x".repeat(2_000)}`),
      assistant(`answer ${at} ${"y".repeat(2_000)}`),
    ]).flat();
    const { text, messages } = await shown("still here", before);
    expect(text).toContain("answer 59");
    expect(text).not.toContain("question 20 ");
    expect(text).toMatch(/\d+ earlier turns of this conversation left out here/);
    expect(messages.length).toBeLessThan(60);
  });

  test("titles and tags are requested without tools, and leave no trace in the conversation", async () => {
    await pi();
    const headers = { "x-openwebui-chat-id": "titled" };
    const greeting = script({ text: "hello" });
    await chat([user(greeting)], {}, headers);
    const task = `### Task:\nGenerate a concise title.\n${script({ text: '{"title": "Hello"}' })}`;
    const { body } = await chat([user(task)], {}, headers);
    expect(body.choices[0]?.message.content).toBe('{"title": "Hello"}');
    expect((await modelRequest(task))?.tools).toEqual([]);
    const next = await shown("next", [user(greeting), assistant("hello")], {}, headers);
    expect(next.text).toContain('"content":"hello"');
    expect(next.text).not.toContain("### Task");
    expect(next.tools.length).toBeGreaterThan(0);
  });

  test("tool_choice none offers no tools", async () => {
    await pi();
    expect((await shown("words", [], { tool_choice: "none" })).tools).toEqual([]);
  });

  test("one runs, one waits, and a third is told to retry", async () => {
    const ask = (text: string) =>
      chat([user(script({ hold: "busy", step: { text } }))], {}, { "x-edge-conversation": "busy" });
    const question = script({ hold: "busy", step: { text: "one" } });
    const first = chat([user(question)], {}, { "x-edge-conversation": "busy" });
    await until(async () => (await modelCalls(question)) === 1);
    let refusals = 0;
    const others = ["two", "three", "four"].map(async (text) => {
      const answer = await ask(text);
      if (answer.status === 409) refusals += 1;
      return answer;
    });
    const refused = await Promise.race(others);
    expect(refused.status).toBe(409);
    expect(refused.headers.get("retry-after")).toBe("2");
    expect(refused.body.error).toMatchObject({ code: "conversation_busy", type: "invalid_request_error" });
    // One that comes only when the first is done would wait, not be refused.
    await until(() => refusals === 2, { what: "both are refused" });
    await releaseModel("busy");
    const texts = (await Promise.all([first, ...others])).map(
      ({ body }) => body.choices?.[0]?.message.content,
    );
    expect(texts[0]).toBe("one");
    expect(texts.filter((text) => text === undefined)).toHaveLength(2);
  });

  test("a repetition of an accepted question is no new one, however busy the conversation is", async () => {
    const headers = { "x-edge-conversation": "repeated" };
    const question = [user(script({ hold: "repeat", step: { text: "one" } }))];
    const keyed = () => chat(question, {}, { ...headers, "idempotency-key": "first" });
    const first = keyed();
    await until(async () => (await modelCalls(String(question[0]?.content))) === 1);
    const second = chat([user(script({ text: "two" }))], {}, headers);
    const turns = async () => await storedTurns(await chatNamed("repeated"));
    await until(async () => (await turns()).filter(({ status }) => status === "running").length === 2);
    const again = keyed();
    await releaseModel("repeat");
    expect((await again).body.edge?.turn).toBe((await first).body.edge.turn);
    expect((await second).body.choices[0]?.message.content).toBe("two");
  });

  test("G2 a retry is the same turn if its client was lost, and another one if it was not", async () => {
    const bridge = await pi();
    const again = { "x-stainless-retry-count": "1" };
    const taken = script(cpu, { text: "$results" }, cpu, { text: "anew: $results" });
    const first = await chat([user(taken)]);
    const later = await chat([user(taken)], {}, again);
    expect(later.body.edge.turn).not.toBe(first.body.edge.turn);
    expect(later.body.choices[0]?.message.content).toBe("anew: 7 %");
    bridge.onCall = () => undefined;
    const body = { stream: true, messages: [user(script(cpu, { text: "never" }))] };
    const lost = await post("/v1/chat/completions", body);
    await until(() => bridge.calls().length === 3);
    await lost.body?.cancel();
    const turn = lost.headers.get("edgecall-turn");
    const second = await post("/v1/chat/completions", body, { headers: again });
    expect(second.headers.get("edgecall-turn")).toBe(turn);
    expect((await events(second)).text).toContain("Cancelled");
    expect(bridge.calls()).toHaveLength(3);
    // It was accepted now.
    const third = await post("/v1/chat/completions", body, { headers: again });
    expect(third.headers.get("edgecall-turn")).not.toBe(turn);
    await third.body?.cancel();
  });

  test("G2 an Idempotency-Key keeps its meaning", async () => {
    const key = { "idempotency-key": "k1", "x-edge-conversation": "keyed" };
    const one = await chat([user(script({ text: "a" }))], {}, key);
    expect((await chat([user("b")], {}, key)).body.edge.turn).toBe(one.body.edge.turn);
  });
});

describe("a stranger's text in a chat whose client keeps the history", () => {
  const siren = { calls: [{ arguments: { agent_id: "pi", action: "siren" } }] };
  const taints = { ...CPU, name: "readfile", taints: true };
  const read = { calls: [{ arguments: { agent_id: "pi", action: "readfile" } }] };
  const asTainted = async (bridge: TestBridge) => {
    const call = bridge.calls().at(-1);
    return (JSON.parse(call?.payload ?? "{}") as { tainted?: boolean }).tainted === true;
  };

  test("is remembered while the chat continues, and not in another one", async () => {
    const bridge = await pi([SIREN, taints, CPU]);
    bridge.onCall = ({ payload }) => ({
      status: "success",
      result: "done",
      ...(payload.includes("readfile") && { tainted: true }),
    });
    const begin = script(read, { text: "a file" });
    await chat([user(begin)]);
    await chat([user(begin), assistant("a file"), user(script(siren, { text: "ok" }))]);
    expect(await asTainted(bridge)).toBe(true);
    const clean = script(cpu, { text: "7" });
    await chat([user(clean)]);
    await chat([user(clean), assistant("7"), user(script(siren, { text: "ok" }))]);
    expect(await asTainted(bridge)).toBe(false);
  });

  test("may be in any assistant's words that we have no record of", async () => {
    const bridge = await pi([SIREN]);
    await chat([user(crypto.randomUUID()), assistant("from elsewhere"), user(script(siren, { text: "ok" }))]);
    expect(await asTainted(bridge)).toBe(true);
  });
});

describe("pictures", () => {
  const data = new Uint8Array(900).map((_, at) => at % 251);
  const url = `data:image/png;base64,${btoa(String.fromCharCode(...data))}`;

  test("in: a data address and an https one reach the model, also from earlier messages", async () => {
    const { body } = await chat([
      user([
        { type: "text", text: "look" },
        { type: "image_url", image_url: { url } },
      ]),
      assistant("I see"),
      user([
        { type: "text", text: script({ text: "$pictures" }) },
        { type: "image_url", image_url: { url: "https://example.com/a.png" } },
      ]),
    ]);
    expect(body.choices[0]?.message.content).toMatch(/^data:image\/png 1222, https:\/\/example.com/);
  });

  test("out: a link that a browser can open without a token, for this picture and for a day", async () => {
    const bridge = await TestBridge.connect([agent("pi", { tools: [CPU] })]);
    const media = [{ media_type: "image/png", bytes: data.length, data: url.split(",")[1] }];
    bridge.onCall = () => ({ status: "success", result: "seen", media });
    const { content } = await streamed([user(script(cpu, { text: "Here it is." }))]);
    const link =
      content.match(/^Here it is\.\n\n!\[pi cpu\]\(https:\/\/gateway(\/v1\/media\/[^)]+)\)$/)?.[1] ?? "";
    const served = await ask(link, { token: null });
    expect(served.status).toBe(200);
    expect(served.headers.get("content-type")).toBe("image/png");
    expect(served.headers.get("cross-origin-resource-policy")).toBe("cross-origin");
    expect(new Uint8Array(await served.arrayBuffer())).toEqual(data);
    const forged = [
      link.replace(/home=a/, "home=b"),
      link.replace(/until=\d/, "until=9"),
      link.replace(/until=\d+/, "until=1000000000"),
      link.replace(/media\/.{4}/, "media/0000"),
      link.replace(/mac=.{4}/, "mac=AAAA"),
      link.replace(/mac=.*/, "mac="),
    ];
    for (const one of forged) expect((await ask(one, { token: null })).status).toBe(404);
    expect((await ask(link.split("?")[0] ?? "", { token: null })).status).toBe(401);
    // The model must not repeat the link when the client sends the answer back.
    const { messages } = await shown("ok", [user("q"), assistant(content)]);
    expect(messages.find(({ role }) => role === "assistant")?.content).toBe("Here it is.\n\n[pi cpu]");
  });
});

describe("errors are OpenAI's", () => {
  const wrong: Array<[string, unknown, number, RegExp]> = [
    ["no JSON", "{", 400, /not JSON/],
    ["no messages", {}, 400, /messages/],
    ["nothing said", { messages: [{ role: "system", content: "a" }] }, 400, /nobody asks anything/],
    ["an assistant's word alone", { messages: [assistant("b")] }, 400, /nobody asks anything/],
    ["an empty one", { messages: [user("  ")] }, 400, /empty/],
    ["two answers", { n: 2, messages: [user("a")] }, 400, /^n:/],
    ["sound", { messages: [user([{ type: "input_audio" }])] }, 400, /content\.0: .*'input_audio'/],
    [
      "a picture by http",
      { messages: [user([{ type: "image_url", image_url: "http://a/b" }])] },
      400,
      /https/,
    ],
    [
      "no base64",
      { messages: [user([{ type: "image_url", image_url: "data:image/png;base64,abcde" }])] },
      400,
      /base64/,
    ],
    ["much text", { messages: [user("x".repeat(100_001))] }, 400, /100000/],
    ["a body without end", "x".repeat(8 * 1024 * 1024 + 1), 413, /bytes/],
  ];
  test.each(wrong)("%s", async (_, body, status, message) => {
    const response = await post("/v1/chat/completions", body);
    expect(response.status).toBe(status);
    const { error } = (await response.json()) as { error: Record<string, unknown> };
    expect(error).toMatchObject({ type: "invalid_request_error", param: null, code: expect.any(String) });
    expect(error.message).toMatch(message);
  });

  test("an invalid token, and an unknown model", async () => {
    const response = await post("/v1/chat/completions", {}, { token: "not-a-token-of-anybody" });
    expect(response.status).toBe(401);
    expect(await response.json()).toMatchObject({
      error: { type: "authentication_error", code: "invalid_api_key" },
    });
    expect((await ask("/v1/models", { token: null })).status).toBe(401);
    expect(await (await ask("/v1/models")).json()).toMatchObject({
      data: [{ id: "edgecall" }, { id: "edgecall-voice" }, { id: "scripted" }],
    });
    expect(await (await ask("/v1/models/edgecall")).json()).toMatchObject({
      id: "edgecall",
      object: "model",
    });
    const none = await ask("/v1/models/meta/none");
    expect([none.status, await none.json()]).toMatchObject([404, { error: { code: "model_not_found" } }]);
  });
});

// `test/hostile` also sends these bodies, but prevents them from beginning a turn; here they may.
test("any body and any names: never a 5xx, and each error has OpenAI's form", {
  timeout: 120_000,
}, async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom("/v1/chat/completions", "/v1/responses"),
      openaiBody,
      openaiHeader,
      async (path, text, { name, value }) => {
        const response = await post(path, text, { headers: { [name]: value } });
        const answer = await response.text();
        expect(response.status).toBeLessThan(500);
        if (response.status < 400) return;
        expect(JSON.parse(answer)).toMatchObject({
          error: { message: expect.any(String), type: expect.any(String), code: expect.any(String) },
        });
      },
    ),
    { numRuns: 150 },
  );
});
