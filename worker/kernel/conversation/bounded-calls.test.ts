/** What one reply of the model may run, and replies that are cut. */
import { abortAllDurableObjects } from "cloudflare:test";
import { expect, test } from "vitest";
import { modelRequest } from "../../../test/model-requests.ts";
import { script } from "../../../test/scripted-model.ts";
import { results, turnsOf } from "../../../test/turns.ts";
import { agent, ask, CPU, SIREN, say, TestBridge } from "../../../test/workerd.ts";

const FEATURES = ["tool", "prompt", "cancel", "ack", "question"];
const siren = (params: Record<string, unknown>) => ({
  arguments: { agent_id: "pi", action: "siren", params },
});

async function pi(): Promise<TestBridge> {
  const bridge = await TestBridge.connect([agent("pi", { features: FEATURES, tools: [CPU, SIREN] })]);
  bridge.onCall = () => ({ status: "success", tool: "siren", result: "it sounds" });
  return bridge;
}

test("L14: 300 equal calls are one command, and each has its result in the history", async () => {
  const bridge = await pi();
  const conversation = crypto.randomUUID();
  const calls = Array.from({ length: 300 }, () => siren({ loud: true }));
  const text = script({ calls }, { text: "it is on" });
  const { body } = await say(conversation, text);
  expect(body).toMatchObject({ status: "done", answer: "it is on", metrics: { calls: 1, success: 1 } });
  expect(bridge.calls()).toHaveLength(1);
  const [first, ...others] = body.calls as Array<{ id: string; same_as?: string; status: string }>;
  expect(first).toMatchObject({ status: "success", result: "it sounds" });
  expect(others).toHaveLength(299);
  expect(others.every(({ same_as, status }) => same_as === first?.id && status === "success")).toBe(true);
  const shown = (await modelRequest(text))?.messages.filter(({ role }) => role === "tool") ?? [];
  expect(shown).toHaveLength(300);
  expect(String(shown[1]?.content)).toContain(`Equal to the call ${first && shown[0]?.tool_call_id}`);
  // The rows say it: nothing of it is held in memory alone.
  await abortAllDurableObjects();
  const [turn] = await turnsOf(conversation);
  expect(turn?.calls).toHaveLength(300);
  expect(turn?.calls.every(({ status }) => status === "success")).toBe(true);
});

test("L14: of 70 different calls 64 run, and the others are refused in words", async () => {
  const bridge = await pi();
  const calls = Array.from({ length: 70 }, (_, level) => siren({ level }));
  const { body } = await say(crypto.randomUUID(), script({ calls }, { text: "done" }));
  expect(bridge.calls()).toHaveLength(64);
  expect(body.calls.filter(({ status }) => status === "success")).toHaveLength(64);
  const refused = body.calls.filter(({ status }) => status === "error");
  expect(refused).toHaveLength(6);
  expect(refused[0]?.error).toContain("the first 64 different ones run");
});

test("L4: an answer that reached MAX_TOKENS says so at every route, also after the objects are gone", async () => {
  await pi();
  const conversation = crypto.randomUUID();
  const { body } = await say(conversation, script({ text: "The disk is", finish: "length" }));
  const answer = "The disk is\n\n[The answer was cut: the model reached MAX_TOKENS.]";
  expect(body).toMatchObject({ status: "done", answer, cut: "length" });
  await abortAllDurableObjects();
  expect((await turnsOf(conversation))[0]).toMatchObject({ answer, cut: "length" });
  const plain = await ask("/ask", { method: "POST", body: script({ text: "So", finish: "content_filter" }) });
  expect(await plain.text()).toBe(
    "So\n\n[The answer was cut: a content filter of the model's endpoint stopped it.]\n",
  );
});

test("L4: whole calls of a cut reply run, and the next reply is the answer", async () => {
  const bridge = await pi();
  const text = script({ text: "I sound it, then I ", calls: [siren({})], finish: "length" }, results);
  const { body } = await say(crypto.randomUUID(), text);
  expect(body).toMatchObject({ answer: "it sounds" });
  expect(body).not.toHaveProperty("cut");
  expect(bridge.calls()).toHaveLength(1);
});

test("L4: the calls of a reply that ended with an error do not run, and the step is tried again", async () => {
  const bridge = await pi();
  const text = script({ calls: [siren({})], finish: "error" }, { text: "nothing was done" });
  const { body } = await say(crypto.randomUUID(), text);
  expect(body).toMatchObject({ status: "done", answer: "nothing was done", calls: [] });
  expect(bridge.calls()).toHaveLength(0);
});

test("L4: OpenAI's routes say it in their own fields", async () => {
  await pi();
  const post = async (path: string, body: unknown) =>
    (await (await ask(path, { method: "POST", body: JSON.stringify(body) })).json()) as Record<
      string,
      unknown
    >;
  for (const [finish, reason] of [
    ["length", "max_output_tokens"],
    ["content_filter", "content_filter"],
  ] as const) {
    const content = script({ text: "The disk is", finish });
    const completion = await post("/v1/chat/completions", { messages: [{ role: "user", content }] });
    expect(completion).toMatchObject({
      choices: [{ finish_reason: finish, message: { content: expect.stringContaining("was cut") } }],
      edge: { status: "done", cut: finish },
    });
    const response = await post("/v1/responses", { input: script({ text: "The disk is", finish }) });
    expect(response).toMatchObject({ status: "incomplete", incomplete_details: { reason } });
  }
});

test("L4: a stream ends with the line and the reason", async () => {
  await pi();
  const stream = async (path: string, body: unknown) =>
    await (await ask(path, { method: "POST", body: JSON.stringify(body) })).text();
  const content = script({ text: "The disk is", finish: "length" });
  const chunks = await stream("/v1/chat/completions", {
    stream: true,
    messages: [{ role: "user", content }],
  });
  expect(chunks).toContain("[The answer was cut: the model reached MAX_TOKENS.]");
  expect(chunks).toContain('"finish_reason":"length"');
  const input = script({ text: "The disk is", finish: "length" });
  const events = await stream("/v1/responses", { stream: true, input });
  expect(events).toContain("event: response.incomplete");
  expect(events).not.toContain("event: response.completed");
});
