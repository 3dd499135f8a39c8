/** Idle is free: a second after anything has ended, neither object has a timer, a call or a promise that keeps it in memory. */
import { reset } from "cloudflare:test";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { BROWSER_KEYS } from "../../test/browsers.ts";
import { call } from "../../test/keyed-home.ts";
import { post, user } from "../../test/openai-requests.ts";
import { type WatchedObjects, watchObjects } from "../../test/pending-work.ts";
import { at, MINUTE, make, passUntil, ruleHome, T0, told } from "../../test/rule-clock.ts";
import { script } from "../../test/scripted-model.ts";
import { conversationOf } from "../../test/states.ts";
import { rowsOf, storedTurns } from "../../test/stopping.ts";
import { AGENTS, results, siren, sounds } from "../../test/turns.ts";
import { setVariables } from "../../test/variables.ts";
import { until } from "../../test/wait.ts";
import { agent, ask, CPU, say, TestBridge } from "../../test/workerd.ts";

let objects: WatchedObjects;
beforeEach(async () => {
  objects = await watchObjects();
});
afterEach(async () => {
  vi.useRealTimers();
  await reset();
});

/** Waits until nothing is pending. Within a second it must be so. */
async function isIdle(): Promise<void> {
  await until(() => objects.pending().length === 0, { within: 1_000 }).catch(() => {});
  expect(objects.pending()).toEqual([]);
}

test("O9: after a turn with a call", async () => {
  const bridge = await TestBridge.connect(AGENTS);
  bridge.onCall = () => sounds;
  const { body } = await say("idle", script({ calls: [siren] }, results));
  expect(body.status).toBe("done");
  await isIdle();
});

test("O9: after a turn whose model fails for good", async () => {
  await TestBridge.connect(AGENTS);
  const { body } = await say("idle", script({ status: 401 }));
  expect(body.status).toBe("failed");
  await isIdle();
});

test("O9: after a turn that is refused", async () => {
  await TestBridge.connect(AGENTS);
  setVariables({ RATE_LIMIT: "off", LLM_BASE_URL: "" });
  const refused = await say("idle", script({ text: "never" }));
  expect(refused.status === 200 ? refused.body.status : refused.status).not.toBe("done");
  expect((await ask("/v1/conversations/idle/messages", { method: "POST", body: "{}" })).status).toBe(400);
  await isIdle();
});

test("O9: after a turn that is cancelled while a device works", async () => {
  const bridge = await TestBridge.connect(AGENTS);
  const waiting = say("idle", script({ calls: [siren] }, { text: "never" }));
  await until(() => bridge.calls()[0]);
  const view = await call("/v1/conversations/idle");
  const [turn] = view.body.turns as Array<{ turn: string }>;
  await ask(`/v1/conversations/idle/turns/${turn?.turn}/cancel`, { method: "POST" });
  expect((await waiting).body.status).toBe("cancelled");
  await isIdle();
});

test("O9: after its client is lost, whose turn is cancelled", async () => {
  const bridge = await TestBridge.connect(AGENTS);
  const body = { stream: true, messages: [user(script({ calls: [siren] }, results))] };
  const lost = await post("/v1/chat/completions", body);
  await until(() => bridge.calls()[0]);
  await lost.body?.cancel();
  await until(() => bridge.received.find((frame) => frame.t === "publish"), {
    what: "the call is cancelled",
  });
  await isIdle();
});

test("O9: after a client of our own is lost, whose turn goes on", async () => {
  const bridge = await TestBridge.connect(AGENTS);
  const text = script({ calls: [siren] }, results);
  const headers = { accept: "text/event-stream" };
  const body = JSON.stringify({ text });
  const lost = await ask("/v1/conversations/idle/messages", { method: "POST", headers, body });
  const sent = await until(() => bridge.calls()[0]);
  await lost.body?.cancel();
  bridge.report(sent.id, sent.agent, sounds);
  await until(async () => (await storedTurns(conversationOf("idle")))[0]?.status === "done");
  await isIdle();
});

test("O9: while a call waits for its device, once it has its row", async () => {
  const bridge = await TestBridge.connect(AGENTS);
  const waiting = say("idle", script({ calls: [siren] }, results));
  const sent = await until(() => bridge.calls()[0]);
  await until(async () => (await rowsOf(ruleHome(), "SELECT id FROM call")).length === 1, {
    what: "the call has a row",
  });
  await isIdle();
  bridge.report(sent.id, sent.agent, sounds);
  expect((await waiting).body.answer).toBe("it sounds");
  await isIdle();
});

test("O9: after a rule has fired, and was told to a conversation and to a browser", async () => {
  const posted: string[] = [];
  const fetch = async (url: string) => {
    posted.push(url);
    return new Response(null, { status: 200 });
  };
  setVariables({ GATEWAY_TOOLS: "rules", TIMEZONE: "Europe/Berlin", WEB: { fetch } });
  at(T0);
  const body = JSON.stringify({ endpoint: "https://push.example.org/one", keys: BROWSER_KEYS });
  expect((await ask("/v1/push/browsers", { method: "POST", body })).status).toBe(201);
  const shed = (online: boolean) => agent("shed", { online, tools: [CPU] });
  const bridge = await TestBridge.connect([shed(true)]);
  const offline = { name: "Shed", agent_id: "shed", reading: "presence", is: "offline", for_minutes: 0 };
  await say("shed", script(make("watch", offline), { text: "ok" }));
  bridge.send({ t: "agents", agents: [shed(false)] });
  await until(async () => (await told("shed")).length > 0, { what: "it was told" });
  await passUntil(T0 + MINUTE);
  await until(() => posted.length > 0, { what: "the browser has it" });
  await isIdle();
});

test("O9: the bridge's keep-alive is answered without waking the object", async () => {
  const bridge = await TestBridge.connect(AGENTS);
  await isIdle();
  objects.entered.length = 0;
  for (let n = 1; n <= 3; n += 1) {
    bridge.raw("ping");
    await until(() => bridge.pongs === n);
  }
  expect(objects.entered).toEqual([]);
  expect(objects.pending()).toEqual([]);
  // A frame, in contrast, enters it.
  bridge.send({ t: "agents", agents: [agent("pi", { online: false, tools: [CPU] })] });
  await until(() => objects.entered.includes("Home.webSocketMessage"));
});
