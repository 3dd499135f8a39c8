/** What waits for a yes or no, on browsers and topics: where it has buttons, what these may do, and when it goes. */
import { reset } from "cloudflare:test";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { device, hosting, READ, SET, UNLOCK } from "../../../../test/hosted-device.ts";
import { call as mcpCall } from "../../../../test/mcp-requests.ts";
import { type PushMessage, PushServers } from "../../../../test/pushed.ts";
import { at, MINUTE, passUntil, T0 } from "../../../../test/rule-clock.ts";
import { type Step, script } from "../../../../test/scripted-model.ts";
import { TOKENS } from "../../../../test/tokens.ts";
import { openQuestions } from "../../../../test/turns.ts";
import { until } from "../../../../test/wait.ts";
import { agent, ask, CPU, say, type TestBridge } from "../../../../test/workerd.ts";

const PLUG = device("coffee-plug", { line: "switch" });
const LOCK = device("front-door", { line: "lock", tools: [READ, UNLOCK, { ...SET, name: "lock" }] });

let servers: PushServers;
let bridge: TestBridge;
beforeEach(async () => {
  at(T0);
  servers = new PushServers({ CHANNELS: "[]", TIMEZONE: "Europe/Berlin", CONNECTIONS_KEY: "k".repeat(43) });
  bridge = await hosting([PLUG, LOCK, agent("pi", { tools: [CPU] })]);
  bridge.onCall = ({ agent: of }) => ({
    status: "success",
    confirmed: true,
    result: `${of} has it`,
    tainted: of === "pi",
  });
});
afterEach(async () => {
  vi.useRealTimers();
  await reset();
});

const call = (agent_id = "coffee-plug", action = "set"): Step => ({
  calls: [{ arguments: { agent_id, action, params: { on: true } } }],
});
/** A member asks. */
const change = (...steps: Step[]) => {
  const text = script(...steps, { text: "so: $results" });
  return say(crypto.randomUUID(), text, { token: TOKENS.member, body: JSON.stringify({ text }) });
};
const question = () => until(async () => (await openQuestions())[0], { what: "the question" });
const answer = (id: string, text: string) =>
  ask(`/v1/questions/${id}`, { method: "POST", body: JSON.stringify({ answer: text }) });
const press = async (link = "") => {
  const response = await ask(link, { method: "POST", token: null });
  return { status: response.status, ...((await response.json()) as { done?: boolean; text?: string }) };
};
const sent = <T>(list: T[], count = 1) =>
  until(
    async () => {
      await passUntil(Date.now());
      return list.length >= count && list[count - 1];
    },
    { what: `message ${count}` },
  );
const first = async (count = 1): Promise<PushMessage> => (await sent(servers.pushed, count)).message;
const labels = ({ buttons = [] }: PushMessage) => buttons.map(({ label }) => label);
const changesSent = () => bridge.calls().filter(({ payload }) => payload.includes('"tool":"set"'));

test("a harmless change that a member asks for has No and Yes; the yes runs it once, by the person of the browser, and a second press shows what happened", async () => {
  await servers.browser("anna", TOKENS.owner);
  const turn = change(call());
  const { id, plain } = await question();
  // The console's row offers the same.
  expect(plain).toBe(true);
  const message = await first();
  expect(message).toMatchObject({ id, question: id, critical: false });
  expect(message.text).toBe("Switch Coffee plug on?\nmia asked");
  expect(labels(message)).toEqual(["No", "Switch on"]);
  expect(servers.pushed[0]?.headers).toMatchObject({ topic: id.replaceAll("-", ""), ttl: "600" });
  const [no, yes] = message.buttons ?? [];
  expect(await press(yes?.link)).toEqual({ status: 200, done: true, text: "anna said yes, 09:00." });
  expect((await turn).body.answer).toContain("coffee-plug has it");
  for (const link of [yes?.link, no?.link])
    expect(await press(link)).toEqual({ status: 200, done: false, text: "anna said yes, 09:00." });
  expect(changesSent()).toHaveLength(1);
});

test("a no denies it, and the notification is taken back", async () => {
  await servers.browser("anna", TOKENS.owner);
  const turn = change(call());
  const { id } = await question();
  expect(await press((await first()).buttons?.[0]?.link)).toMatchObject({ done: true });
  expect((await turn).body.answer).toContain("anna said no. Nothing was run.");
  expect(await first(2)).toEqual({ id, over: true });
  expect(servers.pushed[1]?.headers).toMatchObject({ topic: id.replaceAll("-", ""), urgency: "normal" });
  expect(changesSent()).toEqual([]);
});

test.each<[what: string, ...steps: Step[]]>([
  ["what is dangerous", call("front-door", "unlock")],
  [
    "what others' words may have led to",
    { calls: [{ arguments: { agent_id: "pi", action: "cpu" } }] },
    call(),
  ],
])("%s has no buttons", async (_, ...steps) => {
  await servers.browser("anna", TOKENS.owner);
  const turn = change(...steps);
  const { id, plain } = await question();
  expect(plain).toBeUndefined();
  expect(await first()).toMatchObject({ question: id, buttons: [] });
  await answer(id, "deny");
  await turn;
});

test("what a program asks for reaches its person after two minutes, without buttons", async () => {
  await servers.browser("anna", TOKENS.owner);
  await mcpCall("edge_call", { agent_id: "coffee-plug", action: "set", params: { on: true } });
  const { id } = await question();
  await passUntil(T0 + MINUTE);
  expect(servers.pushed).toEqual([]);
  await passUntil(T0 + 2 * MINUTE);
  expect(await first()).toMatchObject({ question: id, buttons: [] });
  await answer(id, "deny");
});

test("a change with more words than a notification shows whole has no buttons", async () => {
  await servers.browser("anna", TOKENS.owner);
  const params = { on: true, brightness_pct: 5, note: "x".repeat(400) };
  const long = device("desk", { tools: [READ, { ...SET, parameters: { type: "object", properties: {} } }] });
  bridge.send({ t: "agent", agent: long });
  const turn = change({ calls: [{ arguments: { agent_id: "desk", action: "set", params } }] });
  const { id } = await question();
  expect(await first()).toMatchObject({ question: id, buttons: [] });
  await answer(id, "deny");
  await turn;
});

test("where a lock screen shows the kind only, there are no words and no buttons", async () => {
  const outlet = await servers.browser("anna", TOKENS.owner);
  const set = (token: string, words = "kind") =>
    ask(`/v1/push/${outlet}`, { method: "PATCH", token, body: JSON.stringify({ words }) });
  expect((await set(TOKENS.member)).status).toBe(404);
  const wrong = await set(TOKENS.owner, "none");
  expect([wrong.status, await wrong.text()]).toEqual([400, expect.stringContaining("words")]);
  expect(await (await set(TOKENS.owner)).json()).toMatchObject({ id: outlet, words: "kind" });
  // Turned on again it keeps what its person chose.
  await servers.browser("anna", TOKENS.owner);
  const turn = change(call());
  const { id } = await question();
  expect(await first()).toMatchObject({ text: "Something waits for your answer.", buttons: [] });
  await answer(id, "deny");
  await turn;
});

test("a button ends with the token that turned the browser on, and does what its token may", async () => {
  const body = JSON.stringify({ name: "ann", role: "owner", scopes: ["ask", "approve"] });
  const made = await ask("/v1/tokens", { method: "POST", body });
  const { token, record } = (await made.json()) as { token: string; record: { id: string } };
  await servers.browser("ann", token);
  const weak = await ask("/v1/tokens", {
    method: "POST",
    body: JSON.stringify({ name: "ann", role: "owner", scopes: ["ask"] }),
  });
  await servers.browser("weak", ((await weak.json()) as { token: string }).token);
  const turn = change(call());
  const { id } = await question();
  const { buttons = [] } = await first();
  expect(servers.pushed.map(({ to }) => to)).toEqual(["ann"]);
  await ask(`/v1/tokens/${record.id}`, { method: "DELETE" });
  expect((await press(buttons[1]?.link)).status).toBe(410);
  expect(changesSent()).toEqual([]);
  await answer(id, "deny");
  await turn;
});

test("what was answered before it was sent is not sent", async () => {
  await servers.browser("anna", TOKENS.owner);
  const quick = change(call());
  const { id } = await question();
  await until(async () => (await openQuestions())[0]?.asked !== undefined, { what: "anna is asked" });
  await answer(id, "deny");
  await quick;
  await passUntil(T0 + 20 * MINUTE);
  expect(servers.pushed).toEqual([]);
});

test("Safari's service gets no message that shows nothing", async () => {
  await servers.browser("phone", TOKENS.owner, "https://web.push.apple.com/phone");
  const turn = change(call());
  const { id } = await question();
  await first();
  await answer(id, "deny");
  await turn;
  await passUntil(T0 + 20 * MINUTE);
  expect(servers.pushed).toHaveLength(1);
});

test("a topic of ntfy has buttons where it has an access token, and else one that opens the question", async () => {
  await servers.topic("open", TOKENS.owner);
  await servers.topic("closed", TOKENS.owner, "tk_secret");
  const turn = change(call());
  const { id } = await question();
  await sent(servers.published, 2);
  const of = (topic: string) => servers.published.find((one) => one.topic === topic);
  expect(of("open")).toMatchObject({
    click: expect.stringMatching(new RegExp(`/#/waiting/${id}$`)),
    actions: [{ action: "view", label: "Open", url: expect.stringMatching(new RegExp(`/#/waiting/${id}$`)) }],
  });
  const actions = of("closed")?.actions ?? [];
  expect(actions.map(({ action, label }) => [action, label])).toEqual([
    ["http", "No"],
    ["http", "Switch on"],
  ]);
  expect(await press(new URL(actions[1]?.url ?? "").pathname)).toMatchObject({ done: true });
  expect((await turn).body.answer).toContain("coffee-plug has it");
});
