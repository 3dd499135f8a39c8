/** Whom rules tell: found when they are made, and told, ended, answered and escalated to the right people. */
import { reset } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { STRANGER } from "@edgecall/core/loop/taint.ts";
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { turnOnBrowser } from "../../../../test/browsers.ts";
import { call } from "../../../../test/keyed-home.ts";
import { at, MINUTE, make, passUntil, ruleHome, T0, told } from "../../../../test/rule-clock.ts";
import { approved, chatOf, MEMBER, OWNER, toldIn, writes } from "../../../../test/rule-people.ts";
import { script } from "../../../../test/scripted-model.ts";
import { rowsOf, stop, storedTurns } from "../../../../test/stopping.ts";
import { CHANNEL_SECRETS, TOKENS, testVars } from "../../../../test/tokens.ts";
import { setVariables } from "../../../../test/variables.ts";
import { until } from "../../../../test/wait.ts";
import { agent, ask, CPU, say, TestBridge } from "../../../../test/workerd.ts";
import type { PastTurn } from "../../../kernel/api/answers.ts";
import { PlatformError } from "../../chat/platforms/platform-request.ts";
import { telegram } from "../../chat/platforms/telegram.ts";
import type { RuleList, RuleView } from "../contract.ts";

afterEach(async () => {
  vi.useRealTimers();
  await reset();
});
let sent: string[] = [];
beforeEach(() => {
  sent = [];
  const fetch = async (url: string) => {
    sent.push(url);
    return new Response(null, { status: 201 });
  };
  setVariables({ GATEWAY_TOOLS: "rules", TIMEZONE: "Europe/Berlin", WEB: { fetch } });
  at(T0);
});

const GROUP = -100;
const shed = (online: boolean) => agent("shed", { online, tools: [CPU] });
const offline = (more: object = {}) =>
  make("watch", {
    name: "Shed offline",
    agent_id: "shed",
    reading: "presence",
    is: "offline",
    for_minutes: 0,
    ...more,
  });
const firing = "🔔 Shed offline: offline since 09:00. shed.";
const shownIn = (body: unknown) => (body as { rules?: Array<{ text: string }> }).rules?.[0]?.text;
const list = async () => ((await call("/v1/rules", {})).body as unknown as RuleList).rules;
const goes = (bridge: TestBridge, online: boolean) => bridge.send({ t: "agents", agents: [shed(online)] });

/** The device is there again, for long enough that it counts. */
async function isBack(): Promise<void> {
  at(T0 + 30 * MINUTE);
  // The line was silent for so long by then that it counts as gone.
  await TestBridge.connect([shed(true)]);
  await passUntil(T0 + 40 * MINUTE);
}

/** The app refuses each message for good. */
function blocked(): void {
  const refuse = async () => {
    throw new PlatformError({ kind: "never" }, "Forbidden: bot was blocked by the user");
  };
  const spies = [vi.spyOn(telegram, "question"), vi.spyOn(telegram, "text")];
  for (const spy of spies) spy.mockImplementation(refuse);
  onTestFinished(() => {
    for (const spy of spies) spy.mockRestore();
  });
}

describe("the owners", () => {
  test("are told in their chats and browsers, after a person approved it; the end is for them alone", async () => {
    const bridge = await TestBridge.connect([shed(true)]);
    await writes(OWNER);
    await writes(MEMBER);
    await turnOnBrowser("https://push.example.org/anna", TOKENS.owner);
    await turnOnBrowser("https://push.example.org/mia", TOKENS.member);
    const { body, reason } = await approved("mias", script(offline({ to: "owners" }), { text: "ok" }), {
      token: TOKENS.member,
    });
    expect(reason).toBe("it tells others: the owners");
    expect(shownIn(body)).toContain("Watching shed: tells the owners “Shed offline” when");
    const [row] = await list();
    expect(row).toMatchObject({ to: "the owners", conversation: "mias", why: null });
    goes(bridge, false);
    const by = `\n(A rule of mia, ${row?.id}.)`;
    await until(async () => (await toldIn(OWNER)).length > 0, { what: "the message" });
    expect(await toldIn(OWNER)).toEqual([firing + by]);
    const turn = (await storedTurns(chatOf(OWNER))).at(-1);
    expect(turn?.origin.notice?.buttons.map(({ label }) => label)).toEqual(["Got it", "Snooze 1 h"]);
    // Whoever was told may answer, but not end another's rule.
    const press = (what: "ack" | "stop") =>
      ruleHome()["notices.pressRule"]({
        do: what,
        rule: row?.id ?? "",
        by: {
          principal: "telegram:8",
          displayName: "Ben",
          role: "member",
          conversation: `a/telegram/family:${OWNER}`,
        },
      });
    expect((await press("stop")).done).toBe(false);
    expect((await press("ack")).text).toBe("✔ Answered by Ben: Shed offline.");
    await passUntil(T0);
    await isBack();
    await until(async () => (await toldIn(OWNER)).length > 1, { what: "the end" });
    expect((await toldIn(OWNER))[1]).toContain("✓ Shed offline: over at 09:30.");
    expect(await told("mias")).toEqual([]);
    expect(await toldIn(MEMBER)).toEqual([]);
    // The firing, the answer and the end.
    expect(sent).toEqual(Array.from({ length: 3 }, () => "https://push.example.org/anna"));
  });

  test("who never wrote to the bot cannot be told; the error lists what is possible", async () => {
    await TestBridge.connect([shed(true)]);
    await writes(MEMBER);
    const { body } = await say(
      "annas",
      script(offline({ to: "owners" }), offline({ to: "grandma" }), { text: "$results" }),
    );
    expect(body.answer).toContain(
      "to: no owner can be told unasked; possible: telegram:family:7, leave it out for this conversation",
    );
    expect(body.answer).toContain("to: there is no 'grandma' that you use; possible: telegram:family:7,");
    expect(await list()).toEqual([]);
  });
});

describe("a conversation", () => {
  test("is named by its connection where that has one; of several the error names each", async () => {
    await TestBridge.connect([shed(true)]);
    await writes(MEMBER);
    const one = await approved("annas", script(offline({ to: "telegram:family" }), { text: "ok" }));
    expect(one.reason).toBe("it tells others: telegram:family:7");
    await writes(MEMBER, GROUP);
    const { body } = await say("annas", script(offline({ to: "telegram:family" }), { text: "$results" }));
    expect(body.answer).toContain("to: 'telegram:family' may be telegram:family:-100 or telegram:family:7;");
    const exact = script(make("remind", { text: "tea", in_minutes: 1, to: "telegram:family:-100" }), {
      text: "ok",
    });
    await approved("annas", exact);
    await passUntil(T0 + MINUTE);
    await until(async () => (await toldIn(GROUP)).length > 0, { what: "the reminder" });
    expect((await toldIn(GROUP))[0]).toMatch(/^⏰ tea\n\(A rule of anna, r-/);
  });

  test("that is a group: its members answer there as themselves, guests and strangers do not, and a member does not end it", async () => {
    const channels = testVars.CHANNELS.replace('"allow":["7"]', '"allow":["7","8"],"groups":"reads"').replace(
      '"1":"owner"',
      '"1":"owner","8":"guest"',
    );
    setVariables({ CHANNELS: channels });
    const bridge = await TestBridge.connect([shed(true)]);
    await writes(OWNER, GROUP);
    const watch = offline({ to: "telegram:family:-100", repeat: "until_ack" });
    await approved("annas", script(watch, { text: "ok" }));
    goes(bridge, false);
    await until(async () => (await toldIn(GROUP)).length > 0, { what: "the message" });
    const id = (await list())[0]?.id ?? "";
    let update = 0;
    const telegram = async (body: object) => {
      update += 1;
      const answer = await ask("/webhooks/telegram/family", {
        method: "POST",
        body: JSON.stringify({ update_id: update, ...body }),
        headers: { "x-telegram-bot-api-secret-token": CHANNEL_SECRETS.telegram },
        token: null,
      });
      return await answer.text();
    };
    const message = { message_id: 5, chat: { id: GROUP, type: "supergroup" } };
    const press = (from: number, what: string) =>
      telegram({ callback_query: { id: "1", from: { id: from }, message, data: `r:${what}:${id}:1` } });
    expect(await press(8, "ack")).toContain("Only whoever is told of this may answer.");
    expect(await press(9, "ack")).toContain("I do not know you");
    expect(await press(MEMBER, "stop")).toContain("Only whoever is told of this may answer.");
    const acked = async () => (await list())[0]?.history[0]?.acked_by;
    expect(await acked()).toBeNull();
    const snoozed = async () => (await list())[0]?.silent;
    await telegram({ message: { ...message, from: { id: 8 }, text: "/ack 60" } });
    expect(await snoozed()).toBeUndefined();
    await telegram({ message: { ...message, from: { id: MEMBER }, text: "/ack 60" } });
    expect(await snoozed()).toContain("it is snoozed until 10:00");
    await press(MEMBER, "ack");
    expect(await acked()).toBe("telegram:7");
  });

  test("where somebody never wrote is not theirs; their own is no other's business", async () => {
    await TestBridge.connect([shed(true)]);
    await writes(OWNER);
    await writes(OWNER, GROUP);
    const tea = (to: string) => make("remind", { text: "tea", in_minutes: 1, to });
    await writes(MEMBER, MEMBER, script(tea("telegram:family:-100"), { text: "$results" }));
    const refused = (await storedTurns(chatOf(MEMBER))).at(-1)?.answer;
    expect(refused).toContain("to: there is no 'telegram:family:-100' that you use; possible: owners,");
    // Of the conversation itself nobody is asked.
    await writes(MEMBER, MEMBER, script(tea("telegram:family:7"), { text: "ok" }));
    expect(await list()).toMatchObject([{ to: "you here" }]);
  });

  test("that takes nothing any more: its maker is told in its place, and the rule shows why", async () => {
    const bridge = await TestBridge.connect([shed(true)]);
    blocked();
    await writes(MEMBER);
    await approved("annas", script(offline({ to: "telegram:family:7" }), { text: "ok" }));
    goes(bridge, false);
    await until(async () => (await told("annas")).length > 0, { what: "the message" });
    const why = "not delivered to telegram:family:7: Forbidden: bot was blocked by the user";
    expect((await told("annas"))[0]).toBe(
      `${firing}\n(A rule of anna, ${(await list())[0]?.id}.)\n(It was ${why}.)`,
    );
    expect(await list()).toMatchObject([{ why }]);
    // The end is for who heard of it.
    await isBack();
    await until(async () => (await told("annas")).length > 1, { what: "the end" });
  });

  test("that takes nothing any more: what taints there taints where it is told in its place", async () => {
    await TestBridge.connect([shed(true)]);
    blocked();
    await writes(MEMBER);
    const tea = make("remind", { text: "tea", in_minutes: 1, to: "telegram:family:7" });
    await approved("annas", script(tea, { text: "ok" }));
    await passUntil(T0 + 2 * MINUTE);
    await until(async () => (await told("annas")).length > 0, { what: "the message" });
    const turns = await storedTurns(env.CONVERSATION.getByName("a/api/annas"));
    expect(turns.find(({ origin }) => origin.event === "rule")?.sources).toEqual([STRANGER]);
  });

  test("that its maker may not use any more is told nothing", async () => {
    const bridge = await TestBridge.connect([shed(true)]);
    await writes(MEMBER);
    await approved("annas", script(offline({ to: "telegram:family:7" }), { text: "ok" }));
    await chatOf(MEMBER).forget();
    await until(async () => (await rowsOf(ruleHome(), "SELECT name FROM conversation")).length === 1, {
      what: "the chat is forgotten",
    });
    goes(bridge, false);
    await until(async () => (await told("annas")).length > 0, { what: "the message" });
    expect((await list())[0]?.why).toBe(
      "not delivered to telegram:family:7: whoever made it cannot use it any more",
    );
  });
});

describe("the maker's own conversation", () => {
  const makes = (text: string) =>
    say("annas", text, { method: "POST", body: JSON.stringify({ text }), token: TOKENS.approver });
  const share = (people: string[]) =>
    call("/v1/conversations/annas/share", { method: "POST", body: JSON.stringify({ with: people }) });

  test("that is not shared with them any more has nothing of theirs, until it is shared again", async () => {
    await TestBridge.connect([shed(true)]);
    await say("annas", script({ text: "hi" }));
    expect((await share(["max"])).status).toBe(200);
    const tea = make("remind", { text: "tea", every: "hour", at: "09:05" });
    await makes(script(tea, { text: "ok" }));
    await passUntil(T0 + 6 * MINUTE);
    expect(await told("annas")).toEqual(["⏰ tea"]);
    expect((await share([])).status).toBe(200);
    await passUntil(T0 + 70 * MINUTE);
    expect(await told("annas")).toEqual(["⏰ tea"]);
    expect((await list())[0]?.why).toBe(
      "not delivered to you here: this conversation is somebody else's now",
    );
    await share(["max"]);
    await passUntil(T0 + 130 * MINUTE);
    expect(await told("annas")).toEqual(["⏰ tea", "⏰ tea"]);
    expect((await list())[0]?.why).toBeNull();
  });

  test("of somebody without access any more is told nothing, also not that the bridge is gone", async () => {
    const made = await call("/v1/tokens", {
      method: "POST",
      body: JSON.stringify({ name: "leo", role: "member", scopes: ["ask"] }),
    });
    const { token, record } = made.body as unknown as { token: string; record: { id: string } };
    const bridge = await TestBridge.connect([shed(true)]);
    const watch = script(offline(), { text: "ok" });
    await say("leos", watch, { method: "POST", body: JSON.stringify({ text: watch }), token });
    expect(await list()).toMatchObject([{ by: "leo" }]);
    expect((await call(`/v1/tokens/${record.id}`, { method: "DELETE" })).status).toBeLessThan(300);
    bridge.close();
    await passUntil(T0 + 20 * MINUTE);
    expect(await told("leos")).toEqual([]);
  });
});

describe("a press in the console, which names no conversation", () => {
  const turnsOf = async (id: string) =>
    ((await call(`/v1/conversations/${id}`)).body as unknown as { turns: PastTurn[] }).turns;
  const noticeIn = async (id: string) => (await turnsOf(id)).at(-1)?.rules?.[0];
  const press = async (id: string, body: object, token: string) =>
    (await call(`/v1/rules/${id}/press`, { method: "POST", body: JSON.stringify(body), token })).body;

  /** A watch of Anna's fires. @param more of the watch @param where its notice comes */
  async function fires(more: object, where: string): Promise<string> {
    const bridge = await TestBridge.connect([shed(true)]);
    const watch = script(offline(more), { text: "ok" });
    await ("to" in more ? approved("annas", watch) : say("annas", watch));
    goes(bridge, false);
    await until(async () => (await told(where)).length > 0, { what: "the message" });
    return (await list())[0]?.id ?? "";
  }

  test("by somebody who is told in their own conversation answers there, and ends nothing", async () => {
    await say("mias", script({ text: "hi" }), { token: TOKENS.member });
    const id = await fires({ to: "api:mias" }, "mias");
    expect((await noticeIn("mias"))?.buttons).toHaveLength(2);
    expect(await press(id, { do: "stop", occurrence: 1 }, TOKENS.member)).toMatchObject({ done: false });
    const text = "✔ Answered by mia: Shed offline.";
    expect(await press(id, { do: "ack", occurrence: 1 }, TOKENS.member)).toEqual({ done: true, text });
    expect(await noticeIn("mias")).toEqual({ buttons: [], pressed: text });
    await passUntil(T0);
    // It stands below the notice, so no message repeats it.
    expect(await told("mias")).toHaveLength(1);
  });

  test("by an owner shows in another's conversation too", async () => {
    await say("mias", script({ text: "hi" }), { token: TOKENS.member });
    const id = await fires({ to: "api:mias" }, "mias");
    const text = "💤 Shed offline: silent until 10:00.";
    expect(await press(id, { do: "snooze", occurrence: 1 }, TOKENS.owner)).toEqual({ done: true, text });
    expect(await noticeIn("mias")).toEqual({ buttons: [], pressed: text });
    await passUntil(T0);
    expect(await told("mias")).toHaveLength(1);
  });

  test("by somebody with whom the conversation was shared answers; by others it does nothing", async () => {
    const id = await fires({}, "annas");
    const ack = () => press(id, { do: "ack", occurrence: 1 }, TOKENS.member);
    expect(await ack()).toMatchObject({ done: false });
    expect((await noticeIn("annas"))?.pressed).toBeUndefined();
    await call("/v1/conversations/annas/share", { method: "POST", body: JSON.stringify({ with: ["mia"] }) });
    const text = "✔ Answered by mia: Shed offline.";
    expect(await ack()).toEqual({ done: true, text });
    expect(await noticeIn("annas")).toEqual({ buttons: [], pressed: text });
    await passUntil(T0);
    expect(await told("annas")).toHaveLength(1);
  });
});

describe("a second recipient", () => {
  test("is told once where nobody answers, hears of the answer and of the end", async () => {
    const bridge = await TestBridge.connect([shed(true)]);
    await writes(OWNER);
    const { body, reason } = await approved(
      "annas",
      script(offline({ then_to: "owners", then_minutes: 10 }), { text: "ok" }),
    );
    expect(reason).toBe("it tells others: the owners");
    expect(shownIn(body)).toContain("and the owners if nobody answers within 10 min");
    const [row] = await list();
    expect(row).toMatchObject({ to: "you here", then_to: { to: "owners", after_minutes: 10 } });
    goes(bridge, false);
    await passUntil(T0 + 9 * MINUTE);
    expect(await toldIn(OWNER)).toEqual([]);
    const mine = async () => (await told("annas")).filter((text) => !text.includes("home's bridge"));
    expect(await mine()).toEqual([firing]);
    await passUntil(T0 + 30 * MINUTE);
    const [escalated, ...more] = (await toldIn(OWNER)).filter((text) => !text.includes("home's bridge"));
    expect(more).toEqual([]);
    expect(escalated).toContain("Nobody answered for 10 min, so this comes to you.");
    expect(await mine()).toEqual([firing]);
    await stop("abort", ruleHome());
    await ruleHome()["notices.pressRule"]({
      do: "ack",
      rule: row?.id ?? "",
      by: { principal: "telegram:1", role: "owner", conversation: `a/telegram/family:${OWNER}` },
    });
    await passUntil(T0 + 31 * MINUTE);
    expect((await mine()).slice(1)).toEqual(["✔ Answered by telegram:1: Shed offline."]);
    await TestBridge.connect([shed(true)]);
    await passUntil(T0 + 40 * MINUTE);
    await until(async () => (await mine()).length > 2, { what: "the end" });
    const end = "✓ Shed offline: over at 09:31. It lasted 31 min. shed.";
    expect((await mine()).at(-1)).toBe(end);
    // To the others it is somebody else's rule, with that person's words.
    expect((await toldIn(OWNER)).at(-1)).toBe(`${end}\n(A rule of anna, ${row?.id}.)`);
    expect((await storedTurns(chatOf(OWNER))).at(-1)?.sources).toContain(STRANGER);
  });

  test("is set and taken away over the API, checked in the same way", async () => {
    await TestBridge.connect([shed(true)]);
    await writes(MEMBER);
    await say("annas", script(offline(), { text: "ok" }));
    const id = (await list())[0]?.id ?? "";
    const patch = async (body: object) =>
      await call(`/v1/rules/${id}`, { method: "PATCH", body: JSON.stringify(body) });
    const then = (to: string, after_minutes = 5) => ({ then_to: { to, after_minutes } });
    expect((await patch(then("telegram:family"))).body).toMatchObject(then("telegram:family:7"));
    const wrong = await patch(then("owners"));
    expect(wrong.status).toBe(422);
    expect(JSON.stringify(wrong.body)).toContain("then_to: no owner can be told unasked; possible:");
    expect((await patch(then("here"))).status).toBe(422);
    expect((await patch({ name: "Shed" })).body).toMatchObject(then("telegram:family:7"));
    const none = (await patch({ then_to: null })).body as unknown as RuleView;
    expect(none.then_to).toBeUndefined();
  });
});

test("a briefing is written in the conversation where it was asked for alone", async () => {
  await writes(OWNER);
  const brief = make("remind", { text: "the garden", every: "day", at: "08:00", do: "brief", to: "owners" });
  const { body } = await say("annas", script(brief, { text: "$results" }));
  expect(body.answer).toContain("do: a briefing is written in a conversation, for whoever asked there");
});

test("rules of two people in one message that cannot be delivered: each of them is told of their own", async () => {
  setVariables({ GATEWAY_TOOLS: "rules", TIMEZONE: "Europe/Berlin", QUIET_HOURS: "08:30-10:00" });
  const bridge = await TestBridge.connect([shed(true)]);
  await writes(OWNER);
  await approved("annas", script(offline({ to: `telegram:family:${OWNER}` }), { text: "ok" }));
  const second = script(offline({ name: "Shed away", to: "owners" }), { text: "ok" });
  await approved("mias", second, { token: TOKENS.member });
  blocked();
  goes(bridge, false);
  await until(async () => (await rowsOf(ruleHome(), "SELECT rule FROM firing")).length === 2, {
    what: "both fire",
  });
  await passUntil(T0 + 61 * MINUTE);
  const heard = (conversation: string) =>
    until(async () => (await told(conversation)).find((text) => text.includes("blocked")), {
      what: `the message in ${conversation}`,
    });
  expect(await heard("annas")).toContain("Shed offline: offline since 09:00.");
  expect(await heard("mias")).toContain("Shed away: offline since 09:00.");
  expect(await heard("annas")).not.toContain("Shed away");
});
