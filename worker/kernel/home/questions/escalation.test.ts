/** An approval reaches the people at hand, then everybody who may decide it, and comes once more; what it costs, and the quiet hours. */
import { reset, runInDurableObject } from "cloudflare:test";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { device, hosting, READ, SET, UNLOCK } from "../../../../test/hosted-device.ts";
import { PushServers } from "../../../../test/pushed.ts";
import { at, MINUTE, passUntil, ruleHome, T0 } from "../../../../test/rule-clock.ts";
import { OWNER, writes } from "../../../../test/rule-people.ts";
import { script } from "../../../../test/scripted-model.ts";
import { TOKENS } from "../../../../test/tokens.ts";
import { openQuestions } from "../../../../test/turns.ts";
import { until } from "../../../../test/wait.ts";
import { agent, ask, CPU, say, TestBridge } from "../../../../test/workerd.ts";
import { telegram } from "../../../features/chat/platforms/telegram.ts";
import type { AskedPerson } from "../../api/answers.ts";
import { ConversationObject } from "../../conversation/conversation.ts";

const PLUG = device("coffee-plug", { line: "switch" });
const LOCK = device("front-door", { line: "lock", tools: [READ, UNLOCK, { ...SET, name: "lock" }] });

let servers: PushServers;
beforeEach(async () => {
  at(T0);
  servers = new PushServers({ TIMEZONE: "Europe/Berlin" });
  vi.spyOn(telegram, "text").mockImplementation(async () => "1");
  vi.spyOn(telegram, "question").mockImplementation(async () => "1");
  vi.spyOn(telegram, "typing").mockImplementation(async () => undefined);
  vi.spyOn(telegram, "close").mockImplementation(async () => undefined);
  await host();
});
async function host(): Promise<void> {
  const bridge = await hosting([PLUG, LOCK]);
  bridge.onCall = () => ({ status: "success", confirmed: true, result: "it is on", tainted: false });
}
afterEach(async () => {
  vi.useRealTimers();
  vi.restoreAllMocks();
  await reset();
});

type Asked = { id: string; conversation: string; asked?: AskedPerson[] };
const open = async () => ((await openQuestions()) as unknown as Asked[])[0];
const question = () => until(open, { what: "the question" });
const names = async () => (await open())?.asked?.map(({ name, time }) => `${name} ${time}`).toSorted();
const askedAre = async (...all: string[]) => {
  await until(async () => (await names())?.length === all.length, { what: `asked: ${all.join()}` });
  expect(await names()).toEqual(all);
};
const answer = (id: string, text: string, token = TOKENS.owner) =>
  ask(`/v1/questions/${id}`, { method: "POST", token, body: JSON.stringify({ answer: text }) });
const switchOn = (agent_id = "coffee-plug", action = "set") =>
  script({ calls: [{ arguments: { agent_id, action, params: { on: true } } }] }, { text: "so: $results" });
const change = (token: string, text = switchOn()) =>
  say(crypto.randomUUID(), text, { token, body: JSON.stringify({ text }) });
const pushes = () =>
  servers.pushed.map(({ to, message, headers }) => `${to} ${message.over ? "over" : headers.urgency}`);

/** Home's alarm goes off where it stands now, as one that is due does by itself. */
const due = () => passUntil(Date.now());
const pushed = (...all: string[]) =>
  until(
    async () => {
      await due();
      return pushes().length >= all.length;
    },
    { what: `${all.length} pushes` },
  ).then(() => expect(pushes()).toEqual(all));

async function written(): Promise<number> {
  return await runInDurableObject(
    ruleHome(),
    (_, { storage }) => storage.sql.exec<{ n: number }>("SELECT total_changes() AS n").one().n,
  );
}

test("an owner who has just written is asked at once, everybody else after two minutes, and urgently after five, once", async () => {
  await servers.browser("anna", TOKENS.owner);
  await writes(OWNER);
  const turn = change(TOKENS.member);
  const { id } = await question();
  await askedAre("telegram:1 09:00");
  await due();
  expect(pushes()).toEqual([]);
  await passUntil(T0 + 2 * MINUTE);
  await askedAre("anna 09:02", "telegram:1 09:00");
  expect(pushes()).toEqual(["anna normal"]);
  await passUntil(T0 + 5 * MINUTE);
  // Mia's client waits.
  expect(pushes()).toEqual(["anna normal", "anna high"]);
  await passUntil(T0 + 9 * MINUTE);
  expect(pushes()).toHaveLength(2);
  expect((await answer(id, "deny")).status).toBe(200);
  await pushed("anna normal", "anna high", "anna over");
  await turn;
});

test("an owner whose console is open is at hand, and is sent nothing before two minutes", async () => {
  await servers.browser("anna", TOKENS.owner);
  const page = await ask("/v1/questions/events");
  const reader = page.body?.getReader();
  await reader?.read();
  const turn = change(TOKENS.member);
  const { id } = await question();
  await askedAre("anna 09:00");
  await due();
  expect(pushes()).toEqual([]);
  await passUntil(T0 + 2 * MINUTE);
  expect(pushes()).toEqual(["anna normal"]);
  await askedAre("anna 09:00", "telegram:1 09:02");
  await answer(id, "deny");
  await reader?.cancel();
  await turn;
});

test("where nobody is at hand, everybody is asked at once", async () => {
  await servers.browser("anna", TOKENS.owner);
  const turn = change(TOKENS.member);
  const { id } = await question();
  await askedAre("anna 09:00", "telegram:1 09:00");
  await pushed("anna normal");
  await answer(id, "deny");
  await turn;
});

test("an owner's own question reaches the other owners, and the owner's own browser, only after two minutes; the chat says so", async () => {
  await servers.browser("anna", TOKENS.owner);
  const turn = change(TOKENS.owner);
  const { id, conversation } = await question();
  expect(await names()).toBeUndefined();
  await passUntil(T0 + MINUTE);
  expect(pushes()).toEqual([]);
  await passUntil(T0 + 2 * MINUTE);
  expect(pushes()).toEqual(["anna normal"]);
  // They know of themselves.
  await askedAre("telegram:1 09:02");
  const history = await (await ask(`/v1/conversations/${conversation}`)).text();
  expect(history).toContain('{"name":"telegram:1"');
  // The card names who asked; among those who were asked, each begins with the name.
  expect(history).not.toContain('{"name":"anna"');
  await answer(id, "deny");
  await turn;
});

test("a device's question in words reaches the browsers of the person whom it asks, and of nobody else", async () => {
  await servers.browser("anna", TOKENS.owner);
  await servers.browser("mia", TOKENS.member);
  const bridge = await TestBridge.connect([
    agent("pi", { features: ["tool", "prompt", "cancel", "ack", "question"], tools: [CPU] }),
  ]);
  bridge.onCall = ({ id }) => {
    const event = { type: "question", request_id: id, question_id: "q1", text: "Which bed?" };
    bridge.send({
      t: "event",
      id,
      agent: "pi",
      payload: JSON.stringify({ ...event, options: ["roses", "tulips"], expires_in_ms: 600_000 }),
    });
    return undefined;
  };
  const step = { calls: [{ arguments: { agent_id: "pi", action: "cpu" } }] };
  const turn = change(TOKENS.member, script(step, { text: "so: $results" }));
  const { id } = await question();
  await passUntil(T0 + MINUTE);
  expect(pushes()).toEqual([]);
  await passUntil(T0 + 2 * MINUTE);
  expect(pushes()).toEqual(["mia normal"]);
  expect(servers.pushed[0]?.message).toMatchObject({
    text: "pi:\nWhich bed?",
    question: id,
    buttons: [],
  });
  expect((await answer(id, "roses", TOKENS.member)).status).toBe(200);
  await pushed("mia normal", "mia over");
  void turn;
});

test("that nobody answered is said with who was asked", async () => {
  await servers.browser("anna", TOKENS.owner);
  const turn = change(TOKENS.member);
  await question();
  await passUntil(T0 + 11 * MINUTE);
  const { body } = await turn;
  expect(body.answer).toContain("nobody approved it in time (telegram:1 and anna were asked, 09:00)");
});

test.each([
  ["a change that can wait", switchOn(), []],
  ["what is dangerous", switchOn("front-door", "unlock"), ["anna normal", "anna high"]],
])("in quiet hours, while nobody waits, %s", async (_, text, sent) => {
  setQuiet("08:00-20:00");
  await servers.browser("anna", TOKENS.owner);
  vi.spyOn(ConversationObject.prototype, "isAwaited").mockResolvedValue(false);
  const turn = change(TOKENS.member, text);
  const { id } = await question();
  await pushed(...sent.slice(0, 1));
  await passUntil(T0 + 9 * MINUTE);
  expect(pushes()).toEqual(sent);
  await answer(id, "deny");
  await turn;
});

test("a person who waits is no reason to hold it back in quiet hours", async () => {
  setQuiet("08:00-20:00");
  await servers.browser("anna", TOKENS.owner);
  const turn = change(TOKENS.member);
  const { id } = await question();
  await pushed("anna normal");
  await answer(id, "deny");
  await turn;
});

/** Measured before more people were asked: 13 rows and one alarm for either. What a question offers to keep is one more row since. */
test("costs: an owner's question that is answered at once costs what it did; a member's one row, which says who was asked", async () => {
  await change(TOKENS.owner, script({ text: "hello" }));
  await passUntil(T0 + MINUTE);
  const costOf = async (token: string, text: string, ...people: string[]) => {
    await host();
    const before = await written();
    const turn = change(token, text);
    const { id } = await question();
    if (people.length > 0) await askedAre(...people);
    await answer(id, "deny");
    await turn;
    const alarms = await passUntil(Date.now() + 30 * MINUTE);
    return { rows: (await written()) - before, alarms };
  };
  expect(await costOf(TOKENS.owner, switchOn())).toEqual({ rows: 14, alarms: 1 });
  expect(await costOf(TOKENS.member, switchOn("front-door", "lock"), "telegram:1 09:31")).toEqual({
    rows: 15,
    alarms: 1,
  });
});

function setQuiet(hours: string): void {
  servers = new PushServers({ TIMEZONE: "Europe/Berlin", QUIET_HOURS: hours });
}
