/** An owner changes the home's clock: what rules say then comes by it. */
import { evictDurableObject, reset } from "cloudflare:test";
import { rulesHash } from "@edgecall/core/rules/rules-hash.ts";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { device, reading, reported } from "../../../../test/hosted-device.ts";
import { call, passed } from "../../../../test/keyed-home.ts";
import { modelRequests } from "../../../../test/model-requests.ts";
import { at, MINUTE, make, passUntil, ruleHome, T0, told } from "../../../../test/rule-clock.ts";
import { script } from "../../../../test/scripted-model.ts";
import { rowsOf } from "../../../../test/stopping.ts";
import { TOKENS } from "../../../../test/tokens.ts";
import { setVariables } from "../../../../test/variables.ts";
import { until } from "../../../../test/wait.ts";
import { agent, CPU, say, TestBridge } from "../../../../test/workerd.ts";
import type { RuleList } from "../contract.ts";

afterEach(async () => {
  vi.useRealTimers();
  await reset();
});
beforeEach(() => {
  setVariables({ GATEWAY_TOOLS: "rules", TIMEZONE: "Europe/Berlin", QUIET_HOURS: "22:00-07:00" });
  at(T0);
});

const clock = async () => (await call("/v1/home/clock", { token: TOKENS.member })).body;
const change = (body: object, token = TOKENS.owner) =>
  call("/v1/home/clock", { method: "PATCH", body: JSON.stringify(body), token });
const HOUR = 60 * MINUTE;

describe("the clock of a home", () => {
  test("is that of the settings until an owner decides, field by field, and can be again", async () => {
    expect(await clock()).toEqual({ zone: "Europe/Berlin", quiet_hours: "22:00-07:00", changed_by: null });
    await change({ zone: "Asia/Tokyo" });
    expect(await clock()).toEqual({ zone: "Asia/Tokyo", quiet_hours: "22:00-07:00", changed_by: "anna" });
    await change({ quiet_hours: "off" });
    await evictDurableObject(ruleHome());
    expect(await clock()).toMatchObject({ zone: "Asia/Tokyo", quiet_hours: null });
    const { zone, quiet_hours } = (await call("/v1/rules")).body as unknown as RuleList;
    expect({ zone, quiet_hours }).toEqual({ zone: "Asia/Tokyo", quiet_hours: null });
    await change({ zone: null, quiet_hours: null });
    expect(await clock()).toMatchObject({ zone: "Europe/Berlin", quiet_hours: "22:00-07:00" });
  });

  test.each([
    [{ zone: "Europe/Berlln" }, "zone: expected a zone as in Europe/Berlin, got 'Europe/Berlln'"],
    [{ zone: "+02:00" }, "zone: expected a zone as in Europe/Berlin, got '+02:00'"],
    [{ quiet_hours: "22-7" }, "quiet_hours: expected HH:MM-HH:MM between 00:00 and 24:00, as in 22:00-07:00"],
    [{ quiet_hours: "07:00-07:00" }, "quiet_hours: this is the whole day; leave it out"],
  ])("is refused with the field's name: %j", async (body, message) => {
    expect(await change(body)).toMatchObject({ status: 422, body: { error: { message } } });
    expect(await clock()).toMatchObject({ changed_by: null });
  });

  test("is an owner's: others read it", async () => {
    expect((await change({ zone: "UTC" }, TOKENS.member)).status).toBe(403);
    expect((await change({ zones: "UTC" })).status).toBe(400);
  });

  test("is what the model reads", async () => {
    await change({ zone: "America/New_York" });
    const question = script({ text: "ok" });
    await say("now", question);
    const [request] = await modelRequests({ question });
    expect(JSON.stringify(request?.messages[0])).toContain(
      "It is Tue 23 Nov 2027, 03:00 (America/New_York) in a.",
    );
  });
});

describe("a reminder keeps its time of the clock", () => {
  const daily = (time: string) => make("remind", { text: "tea", every: "day", at: time });
  const minuteTold = async () => {
    const rows = await rowsOf<{ at: number }>(ruleHome(), "SELECT at FROM firing ORDER BY at");
    return rows.map((row) => (row.at - T0) / MINUTE);
  };

  // T0 is 09:00 in Berlin, 03:00 in New York, 17:00 in Tokyo.
  test.each([
    ["to the west", "America/New_York", [5 * 60, 29 * 60]],
    ["to the east", "Asia/Tokyo", [15 * 60, 39 * 60]],
  ])("when the home moves %s", async (_, zone, minutes) => {
    await say("tea", script(daily("08:00"), { text: "ok" }));
    await change({ zone });
    await passUntil(T0 + 40 * HOUR);
    expect(await minuteTold()).toEqual(minutes);
    expect(await told("tea")).toEqual(["⏰ tea", "⏰ tea"]);
  });

  test("and a single time that is over by the new clock is told at once", async () => {
    const once = make("remind", { text: "call", at_date: "2027-11-23 10:00" });
    await say("call", script(once, { text: "ok" }));
    await change({ zone: "Asia/Tokyo" });
    await passUntil(T0 + MINUTE);
    expect((await told("call"))[0]).toContain("⏰ call");
    expect(await rowsOf(ruleHome(), "SELECT id FROM rule")).toEqual([]);
  });

  test("also when the setting is changed: it says nothing at the time of before", async () => {
    await say("tea", script(daily("08:00"), { text: "ok" }));
    setVariables({ TIMEZONE: "America/New_York" });
    await passUntil(T0 + 30 * HOUR);
    expect((await told("tea")).every((text) => text.startsWith("⏰ tea"))).toBe(true);
    expect((await told("tea")).length).toBeLessThanOrEqual(2);
  });
});

test("what waits for the end of the quiet hours goes out at their new end", async () => {
  at(T0 + 14 * HOUR);
  const bridge = await TestBridge.connect([agent("shed", { online: true, tools: [CPU] })]);
  const offline = { name: "Shed", agent_id: "shed", reading: "presence", is: "offline", for_minutes: 0 };
  await say("shed", script(make("watch", offline), { text: "ok" }));
  bridge.send({ t: "agents", agents: [agent("shed", { online: false, tools: [CPU] })] });
  await until(async () => (await rowsOf(ruleHome(), "SELECT * FROM firing")).length > 0, {
    what: "it fires",
  });
  expect(await told("shed")).toEqual([]);
  const silent = async () => ((await call("/v1/rules")).body as unknown as RuleList).rules[0]?.silent;
  expect(await silent()).toContain("quiet hours at Wed 24 Nov, 07:00");
  await change({ quiet_hours: "22:00-23:30" });
  expect(await silent()).toContain("quiet hours at 23:30");
  await passUntil(T0 + 14 * HOUR + 31 * MINUTE);
  expect((await told("shed")).some((text) => text.includes("Shed"))).toBe(true);
});

describe("hours of a watch", () => {
  async function connected(rules?: string): Promise<TestBridge> {
    const bridge = await TestBridge.dial();
    bridge.onStates = () => [
      reported("freezer", reading("temperature", -18.2, { unit: "°C", at: Date.now() })),
    ];
    await bridge.hello(["devices", "kept", "rules"], rules);
    await bridge.snapshot([device("freezer", { line: "temperature" })]);
    return bridge;
  }
  const warm = {
    name: "Warm",
    agent_id: "freezer",
    reading: "temperature",
    is: "above",
    value: -15,
    only_between: "08:00-20:00",
  };
  const framesTo = (bridge: TestBridge) => bridge.received.filter(({ t }) => t === "rules");

  test("go by the home's new clock, and its place learns of them", async () => {
    const bridge = await connected();
    await say("kitchen", script(make("watch", warm), { text: "ok" }));
    await change({ zone: "Asia/Tokyo" });
    expect(framesTo(bridge)).toMatchObject([
      { set: [{ condition: { version: 1, only_between: { zone: "Europe/Berlin", from: 480 } } }] },
      { set: [{ condition: { version: 2, only_between: { zone: "Asia/Tokyo", from: 480 } } }] },
    ]);
  });

  test("also when the setting is changed, once", async () => {
    setVariables({ TIMEZONE: "" });
    const before = await connected();
    await say("kitchen", script(make("watch", warm), { text: "ok" }));
    const [{ id = "" } = {}] = await rowsOf<{ id: string }>(ruleHome(), "SELECT id FROM rule");
    before.close();
    setVariables({ TIMEZONE: "Europe/Berlin" });
    const moved = await connected(await rulesHash([{ id, version: 1 }]));
    await passed(moved);
    expect(framesTo(moved)).toMatchObject([
      { set: [{ condition: { version: 2, only_between: { zone: "Europe/Berlin", from: 480 } } }] },
    ]);
    moved.close();
    const same = await connected(await rulesHash([{ id, version: 2 }]));
    await passed(same);
    expect(framesTo(same)).toEqual([]);
  });
});

test("a watch takes other hours and repeats, by the home's clock, and a wrong one is refused by name", async () => {
  await TestBridge.connect([agent("shed", { online: true, tools: [CPU] })]);
  const offline = { name: "Shed", agent_id: "shed", reading: "presence", is: "offline", for_minutes: 0 };
  await say("hours", script(make("watch", offline), { text: "ok" }));
  const [{ id = "" } = {}] = await rowsOf<{ id: string }>(ruleHome(), "SELECT id FROM rule");
  const patch = (body: object) => call(`/v1/rules/${id}`, { method: "PATCH", body: JSON.stringify(body) });
  expect((await patch({ only_between: "08:00-20:00", repeat: "until_ack" })).body).toMatchObject({
    only_between: "08:00-20:00",
    repeat: "until_ack",
    name: "Shed",
  });
  expect(await patch({ only_between: "8-20" })).toMatchObject({
    status: 422,
    body: { error: { message: expect.stringContaining("only_between: expected HH:MM-HH:MM") } },
  });
  expect((await patch({ only_between: null })).body).not.toHaveProperty("only_between");
});
