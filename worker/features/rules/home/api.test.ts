/** `/v1/rules`, and the end of rules with their maker's access or their device. */
import { reset } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { call, passed, post } from "../../../../test/keyed-home.ts";
import { at, MINUTE, make, passUntil, ruleHome, T0, told } from "../../../../test/rule-clock.ts";
import { approved } from "../../../../test/rule-people.ts";
import { script } from "../../../../test/scripted-model.ts";
import { rowsOf, storedTurns } from "../../../../test/stopping.ts";
import { TOKENS } from "../../../../test/tokens.ts";
import { setVariables } from "../../../../test/variables.ts";
import { until } from "../../../../test/wait.ts";
import { agent, CPU, say, TestBridge } from "../../../../test/workerd.ts";
import type { RuleList, RuleView } from "../contract.ts";

afterEach(async () => {
  vi.useRealTimers();
  await reset();
});
beforeEach(() => {
  setVariables({ GATEWAY_TOOLS: "rules", TIMEZONE: "Europe/Berlin", QUIET_HOURS: "22:00-07:00" });
  at(T0);
});

const list = async (token = TOKENS.owner) => (await call("/v1/rules", { token })).body as unknown as RuleList;
const patch = (id: string, body: object, token = TOKENS.owner) =>
  call(`/v1/rules/${id}`, { method: "PATCH", body: JSON.stringify(body), token });
const shed = (online: boolean) => agent("shed", { online, tools: [CPU] });
const offline = {
  name: "Shed offline",
  agent_id: "shed",
  reading: "presence",
  is: "offline",
  for_minutes: 0,
};

async function firing(): Promise<{ bridge: TestBridge; id: string }> {
  const bridge = await TestBridge.connect([shed(true)]);
  await say("shed", script(make("watch", offline), { text: "ok" }));
  bridge.send({ t: "agents", agents: [shed(false)] });
  await until(async () => (await told("shed")).length > 0, { what: "the message" });
  return { bridge, id: (await list()).rules[0]?.id ?? "" };
}

async function visitor(role: "owner" | "member"): Promise<{ token: string; id: string }> {
  const made = await post("/v1/tokens", { name: "visitor", role, scopes: ["ask"] });
  const { token, record } = made.body as { token?: string; record?: { id: string } };
  return { token: String(token), id: record?.id ?? "" };
}

describe("a watch", () => {
  test("is listed with its state, its history and the words that a page needs", async () => {
    const { id } = await firing();
    const { rules, zone, quiet_hours } = await list();
    expect({ zone, quiet_hours }).toEqual({ zone: "Europe/Berlin", quiet_hours: "22:00-07:00" });
    expect(rules).toMatchObject([
      {
        id,
        kind: "watch",
        name: "Shed offline",
        status: "active",
        device: "shed",
        agent: "shed",
        state: "firing",
        severity: "info",
        last_firing: T0,
        history: [{ occurrence: 1, at: T0, until: null, acked_by: null }],
        channel: "api",
        conversation: "shed",
        made_at: T0,
      },
    ]);
  });

  test("is acknowledged, which tells why it is silent; then paused, renamed, resumed and removed", async () => {
    const { id } = await firing();
    const pressed = await post(`/v1/rules/${id}/press`, { do: "ack" });
    expect(pressed.body).toMatchObject({ done: true });
    const [acked] = (await list()).rules;
    expect(acked?.history[0]?.acked_by).toBe(acked?.by);
    expect(acked?.silent).toBe(`${acked?.by} has answered, and it goes on`);
    expect((await patch(id, { status: "paused" })).body).toMatchObject({
      status: "paused",
      silent: "it is paused",
    });
    expect((await patch(id, { name: "Shed is away", status: "active" })).body).toMatchObject({
      status: "active",
      name: "Shed is away",
    });
    expect((await call(`/v1/rules/${id}`, { method: "DELETE" })).status).toBe(204);
    expect((await list()).rules).toEqual([]);
    expect((await call(`/v1/rules/${id}`, { method: "DELETE" })).status).toBe(404);
  });

  test("of somebody else is not there for a member; a wrong change is refused with its field", async () => {
    const { id } = await firing();
    expect((await list(TOKENS.member)).rules).toEqual([]);
    expect((await patch(id, { status: "paused" }, TOKENS.member)).status).toBe(404);
    expect(await patch(id, { value: 3 })).toMatchObject({
      status: 422,
      body: { error: { message: expect.stringContaining("value: 'offline' compares with nothing") } },
    });
    expect((await patch(id, { status: "orphaned" })).status).toBe(400);
  });
});

test("a reminder is listed with its next three times, and takes other words", async () => {
  await say("tea", script(make("remind", { text: "tea", every: "day", at: "17:00" }), { text: "ok" }));
  const [row] = (await list()).rules;
  expect(row).toMatchObject({ kind: "remind", name: "tea", condition: expect.stringContaining("17:00") });
  expect(row?.next).toHaveLength(3);
  const changed = (await patch(row?.id ?? "", { text: "coffee" })).body as unknown as RuleView;
  expect(changed.name).toBe("coffee");
  expect((await patch(row?.id ?? "", { severity: "info" })).status).toBe(422);
});

describe("a watch that was paused while it fired", () => {
  const DAY = 24 * 60 * MINUTE;

  async function paused(): Promise<string> {
    const { id } = await firing();
    await patch(id, { repeat: "until_ack" });
    await post(`/v1/rules/${id}/press`, { do: "snooze", minutes: 60 });
    expect((await patch(id, { status: "paused" })).body).toMatchObject({ state: "idle" });
    return id;
  }
  /** Without what is said of the bridge's line, which the clock's jump ended. */
  const ofShed = async () => (await told("shed")).filter((text) => text.includes("Shed offline"));

  test("says nothing when it is resumed a day later and is over", async () => {
    const id = await paused();
    at(T0 + DAY);
    await TestBridge.connect([shed(true)]);
    expect((await patch(id, { status: "active" })).body).toMatchObject({ status: "active", state: "idle" });
    await passUntil(T0 + DAY + 2 * MINUTE);
    expect(await ofShed()).toEqual(["🔔 Shed offline: offline since 09:00. shed."]);
    expect((await post(`/v1/rules/${id}/press`, { do: "ack" })).body).toMatchObject({
      text: "This is over already.",
    });
  });

  test("begins anew when it is resumed and is still so", async () => {
    const id = await paused();
    at(T0 + DAY);
    await TestBridge.connect([shed(false)]);
    await patch(id, { status: "active" });
    await until(async () => (await ofShed()).length > 1, { what: "the new firing" });
    expect((await ofShed())[1]).toBe("🔔 Shed offline: offline since 09:00. shed.");
    expect((await list()).rules[0]).toMatchObject({ state: "firing", last_firing: T0 + DAY });
  });
});

describe("a watch that fires is changed", () => {
  test("to critical in the quiet hours: what was held back is told", async () => {
    at(T0 + 14 * 60 * MINUTE);
    const bridge = await TestBridge.connect([shed(true)]);
    await say("shed", script(make("watch", offline), { text: "ok" }));
    bridge.send({ t: "agents", agents: [shed(false)] });
    const [{ id = "" } = {}] = await until(
      async () => (await list()).rules.filter(({ last_firing }) => last_firing !== null),
      { what: "it fires" },
    );
    expect(await told("shed")).toEqual([]);
    await patch(id, { severity: "critical" });
    await passUntil(T0 + 14 * 60 * MINUTE + 1);
    expect(await told("shed")).toEqual([expect.stringContaining("Shed offline: offline since 23:00.")]);
  });

  test("to tell somebody else where nobody answers: they are told in time", async () => {
    await say("garden", script({ text: "hi" }));
    const { id } = await firing();
    const then_to = { to: "api:garden", after_minutes: 10 };
    expect((await patch(id, { then_to })).status).toBe(200);
    await passUntil(T0 + 11 * MINUTE);
    expect(await told("garden")).toContainEqual(expect.stringContaining("Shed offline"));
  });
});

describe("a critical watch", () => {
  test("is one of an owner: that of a member does not become critical, whoever asks for it", async () => {
    await TestBridge.connect([shed(true)]);
    const { token: visits } = await visitor("member");
    const text = script(make("watch", offline), { text: "ok" });
    await say("visit", text, { method: "POST", body: JSON.stringify({ text }), token: visits });
    const [rule] = (await list()).rules;
    expect(await patch(rule?.id ?? "", { severity: "critical" })).toMatchObject({
      status: 422,
      body: { error: { message: "severity: only a watch that an owner made may be critical" } },
    });
    expect((await list()).rules).toMatchObject([{ status: "active", severity: "info" }]);
  });

  test("of an owner who is a member since tells its next firing also at night, and is a warning then", async () => {
    at(T0 + 14 * 60 * MINUTE);
    const bridge = await TestBridge.connect([shed(true)]);
    const owner = await visitor("owner");
    const text = script(make("watch", { ...offline, severity: "critical" }), { text: "ok" });
    await approved("night", text, { method: "POST", token: owner.token });
    await call(`/v1/tokens/${owner.id}`, { method: "DELETE" });
    await visitor("member");
    bridge.send({ t: "agents", agents: [shed(false)] });
    await until(async () => (await told("night")).length > 1, { what: "both messages" });
    const [rule] = (await list()).rules;
    expect(rule).toMatchObject({ status: "active", severity: "warning", state: "firing" });
    expect((await told("night")).sort()).toEqual([
      "⚠ Shed offline: offline since 23:00. shed.",
      `⚠ “Shed offline” (${rule?.id}) is a warning from now on: whoever made it is no owner any more.`,
    ]);
  });
});

test("a briefing runs as its maker, with the role that they have by then, whoever wrote last", async () => {
  const owner = await visitor("owner");
  const text = script({ text: "12 °C" });
  const brief = script(make("remind", { text, in_minutes: 10, do: "brief" }), { text: "ok" });
  await approved("garden", brief, { method: "POST", token: owner.token });
  await call(`/v1/tokens/${owner.id}`, { method: "DELETE" });
  await visitor("member");
  await say("garden", script({ text: "an owner was here" }));
  await passUntil(T0 + 12 * MINUTE);
  const turns = () => storedTurns(env.CONVERSATION.getByName("a/api/garden"));
  const turn = await until(async () => (await turns()).find(({ origin }) => origin.event === "rule"), {
    what: "the briefing",
  });
  expect(turn.origin).toMatchObject({ principal: "visitor", role: "member", limits: { readsOnly: true } });
});

describe("a rule ends", () => {
  test("with its maker's access: it says nothing any more, and the list says why", async () => {
    const made = await post("/v1/tokens", { name: "visitor", role: "member", scopes: ["ask"] });
    expect(made.status).toBe(201);
    const { token, record } = made.body as { token?: string; record?: { id: string } };
    const visits = { token: String(token) };
    const text = script(make("remind", { text: "tea", in_minutes: 10 }), { text: "ok" });
    await say("visit", text, { method: "POST", body: JSON.stringify({ text }), ...visits });
    expect((await list(visits.token)).rules).toHaveLength(1);
    expect((await call(`/v1/tokens/${record?.id}`, { method: "DELETE" })).status).toBeLessThan(300);
    await passUntil(T0 + 20 * MINUTE);
    expect(await told("visit")).toEqual([]);
    expect((await list()).rules).toMatchObject([
      { status: "orphaned", why: "whoever made it has no access any more" },
    ]);
  });

  test("with its device: whoever was told by it learns so", async () => {
    const { bridge } = await firing();
    await passed(bridge);
    expect((await call("/v1/agents/shed", { method: "DELETE" })).status).toBeLessThan(300);
    await until(async () => (await told("shed")).length > 1, { what: "the word" });
    expect((await told("shed"))[1]).toContain("has stopped: its device is gone from this home.");
    expect(await rowsOf(ruleHome(), "SELECT status FROM rule")).toEqual([{ status: "orphaned" }]);
  });
});
