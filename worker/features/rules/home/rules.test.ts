/** Rules from the sentence to the message, in one conversation of the API, with the clock set by the test. */
import { reset } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { modelRequests } from "../../../../test/model-requests.ts";
import { told as allTold, at, MINUTE, make, passUntil, ruleHome, T0 } from "../../../../test/rule-clock.ts";
import { script } from "../../../../test/scripted-model.ts";
import { rowsOf, storedTurns } from "../../../../test/stopping.ts";
import { TOKENS } from "../../../../test/tokens.ts";
import { setVariables } from "../../../../test/variables.ts";
import { until } from "../../../../test/wait.ts";
import { agent, ask, CPU, say, TestBridge } from "../../../../test/workerd.ts";

afterEach(async () => {
  vi.useRealTimers();
  await reset();
});
beforeEach(() => {
  setVariables({ GATEWAY_TOOLS: "rules", TIMEZONE: "Europe/Berlin" });
  at(T0);
});

const shed = (online: boolean) => agent("shed", { online, tools: [CPU] });

/** Without the word that the bridge is gone: the clock jumps, so its line counts as dead. */
const told = async (conversation: string) =>
  (await allTold(conversation)).filter((text) => !text.includes("The home's bridge is"));

const pressRule = (rule: string, what: "ack" | "snooze" | "stop", principal = "anna") =>
  ruleHome()["notices.pressRule"]({ do: what, rule, by: { principal, role: "member" } });
const ruleOf = async () => (await rowsOf<{ id: string }>(ruleHome(), "SELECT id FROM rule"))[0]?.id ?? "";

describe("a reminder", () => {
  test("each morning: confirmed with its next times, told once each morning, also over the end of summer time", async () => {
    at(Date.UTC(2027, 9, 29, 8, 0));
    const { body } = await say(
      "garden",
      script(make("remind", { text: "look at the garden", every: "day", at: "08:00" }), { text: "ok" }),
    );
    const { rules = [] } = body as unknown as { rules?: Array<{ text: string }> };
    expect(rules[0]?.text).toBe(
      "Reminds you here every day at 08:00 (Europe/Berlin): “look at the garden”. Next: Sat 30 Oct 2027, 08:00; Sun 31 Oct 2027, 08:00; Mon 1 Nov 2027, 08:00.",
    );
    await passUntil(Date.UTC(2027, 10, 1, 12, 0));
    expect(await told("garden")).toEqual([
      "⏰ look at the garden",
      "⏰ look at the garden",
      "⏰ look at the garden",
    ]);
    const turns = await storedTurns(env.CONVERSATION.getByName("a/api/garden"));
    expect(turns.slice(1).map(({ createdAt }) => new Date(createdAt).toISOString())).toEqual([
      "2027-10-30T06:00:00.000Z",
      "2027-10-31T07:00:00.000Z",
      "2027-11-01T07:00:00.000Z",
    ]);
  });

  test("once: told, and gone", async () => {
    await say("tea", script(make("remind", { text: "tea", in_minutes: 4 }), { text: "ok" }));
    await passUntil(T0 + 10 * MINUTE);
    expect(await told("tea")).toEqual(["⏰ tea"]);
    expect(await rowsOf(ruleHome(), "SELECT id FROM rule")).toEqual([]);
  });

  test("with a wrong time is refused, with the field's name", async () => {
    const { body } = await say(
      "wrong",
      script(make("remind", { text: "tea", every: "day" }), { text: "$results" }),
    );
    expect(body.answer).toContain("at: 'every: day' needs a time, as in 08:00");
  });

  test("undone by its button says nothing any more", async () => {
    await say("undo", script(make("remind", { text: "tea", in_minutes: 4 }), { text: "ok" }));
    const { text } = await pressRule(await ruleOf(), "stop");
    expect(text).toBe("✔ Stopped by anna: tea.");
    await passUntil(T0 + 10 * MINUTE);
    expect(await told("undo")).toEqual([]);
    expect(await pressRule("w-0000", "stop")).toMatchObject({ text: "This rule is not there any more." });
  });
});

describe("a watch of presence", () => {
  const offline = (more: object = {}) =>
    make("watch", {
      name: "Shed offline",
      agent_id: "shed",
      reading: "presence",
      is: "offline",
      for_minutes: 0,
      ...more,
    });

  async function goesOffline(bridge: TestBridge) {
    bridge.send({ t: "agents", agents: [shed(false)] });
    await until(async () => (await rowsOf(ruleHome(), "SELECT * FROM firing")).length > 0, {
      what: "a firing",
    });
  }

  test("nothing is known of a device before a bridge that comes back has said what there is", async () => {
    const before = await TestBridge.connect([shed(true)]);
    await say("shed", script(offline(), { text: "ok" }));
    before.close();
    const bridge = await TestBridge.dial();
    await bridge.hello();
    await bridge.snapshot([shed(true)]);
    expect(await rowsOf(ruleHome(), "SELECT * FROM firing")).toEqual([]);
    await goesOffline(bridge);
    await until(async () => (await told("shed")).length === 1, { what: "the message" });
  });

  test("S27: tells a guest nothing: the answer about a rule is that about none", async () => {
    await TestBridge.connect([shed(true)]);
    await say("shed", script(offline(), { text: "ok" }));
    const press = async (rule: string) => {
      const body = JSON.stringify({ do: "ack" });
      const response = await ask(`/v1/rules/${rule}/press`, { method: "POST", body, token: TOKENS.guest });
      return [response.status, await response.text()];
    };
    const answer = await press(await ruleOf());
    expect(answer).toEqual([200, expect.stringContaining('"done":false')]);
    expect(await press("w-0000")).toEqual(answer);
  });

  test("is told with buttons, answered, and its end is told", async () => {
    const bridge = await TestBridge.connect([shed(true)]);
    await say("shed", script(offline(), { text: "ok" }));
    await goesOffline(bridge);
    await until(async () => (await told("shed")).length === 1, { what: "the message" });
    expect((await told("shed"))[0]).toBe("🔔 Shed offline: offline since 09:00. shed.");
    const [, turn] = await storedTurns(env.CONVERSATION.getByName("a/api/shed"));
    const rule = await ruleOf();
    expect(turn?.origin.notice?.buttons.map(({ label }) => label)).toEqual([
      "Got it",
      "Snooze 1 h",
      "Stop this watch",
    ]);
    expect(await pressRule(rule, "ack")).toEqual({ done: true, text: "✔ Answered by anna: Shed offline." });
    expect((await pressRule(rule, "ack")).text).toBe("anna has answered already.");
    expect(await pressRule(rule, "stop", "somebody")).toMatchObject({ done: false });
    at(T0 + 30 * MINUTE);
    // The bridge was silent for so long by then that it counts as gone.
    await TestBridge.connect([shed(true)]);
    await passUntil(T0 + 40 * MINUTE);
    await until(async () => (await told("shed")).length === 2, { what: "the end" });
    expect((await told("shed"))[1]).toBe("✓ Shed offline: over at 09:30. It lasted 30 min. shed.");
    expect((await pressRule(rule, "ack")).text).toBe("This is over already.");
  });

  test("once: it is gone with its message, which has no buttons", async () => {
    const bridge = await TestBridge.connect([shed(true)]);
    await say("shed", script(offline({ repeat: "once" }), { text: "ok" }));
    bridge.send({ t: "agents", agents: [shed(false)] });
    await until(async () => (await told("shed")).length === 1, { what: "the message" });
    const [, turn] = await storedTurns(env.CONVERSATION.getByName("a/api/shed"));
    expect(turn?.origin.notice?.buttons).toEqual([]);
    expect(await ruleOf()).toBe("");
  });

  test("until somebody answers: again after 5, 15 and 30 min; snoozed, after that time", async () => {
    const bridge = await TestBridge.connect([shed(true)]);
    await say("gate", script(offline({ repeat: "until_ack" }), { text: "ok" }));
    await goesOffline(bridge);
    await passUntil(T0 + 31 * MINUTE);
    expect(await told("gate")).toHaveLength(4);
    await pressRule(await ruleOf(), "snooze");
    await passUntil(T0 + 89 * MINUTE);
    expect(await told("gate")).toHaveLength(4);
    await passUntil(T0 + 92 * MINUTE);
    expect(await told("gate")).toHaveLength(5);
    await pressRule(await ruleOf(), "ack");
    await passUntil(T0 + 600 * MINUTE);
    expect(await told("gate")).toHaveLength(5);
  });

  test("in the quiet hours waits for their end, and comes with the others as one message", async () => {
    setVariables({ QUIET_HOURS: "08:30-10:00" });
    const bridge = await TestBridge.connect([shed(true)]);
    await say("quiet", script(offline(), offline({ name: "Once more" }), { text: "ok" }));
    await goesOffline(bridge);
    await passUntil(T0 + 59 * MINUTE);
    expect(await told("quiet")).toEqual([]);
    await passUntil(T0 + 61 * MINUTE);
    const [message, ...more] = await told("quiet");
    expect(more).toEqual([]);
    expect(message).toContain("☀ During the quiet hours:");
    expect(message).toContain("• Shed offline: offline since 09:00.");
    expect(message).toContain("• Once more: offline since 09:00.");
  });

  test("of a device that is not there, or that has no such reading, is refused with what there is", async () => {
    await TestBridge.connect([shed(true)]);
    const { body } = await say(
      "none",
      script(offline({ agent_id: "attic" }), offline({ reading: "temperature", is: "above", value: 1 }), {
        text: "$results",
      }),
    );
    expect(body.answer).toContain("agent_id: there is no agent 'attic'");
    expect(body.answer).toContain("agent_id: 'shed' cannot watch by itself");
  });
});

test("the prompt has the time, the zone and the home's name", async () => {
  const question = script({ text: "x" });
  await say("clock", question);
  const [request] = await modelRequests({ question });
  expect(String(request?.messages[0]?.content)).toContain(
    "It is Tue 23 Nov 2027, 09:00 (Europe/Berlin) in a.",
  );
});
