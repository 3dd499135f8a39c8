/** What is told of the bridge's absence, and of devices' presence at their hours. */
import { reset } from "cloudflare:test";
import { BRIDGE_PROTOCOL } from "@edgecall/core/protocol/names.ts";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { passed } from "../../../../test/keyed-home.ts";
import { at, MINUTE, make, passUntil, ruleHome, T0, told } from "../../../../test/rule-clock.ts";
import { script } from "../../../../test/scripted-model.ts";
import { hold, rowsOf } from "../../../../test/stopping.ts";
import { setVariables } from "../../../../test/variables.ts";
import { until } from "../../../../test/wait.ts";
import { agent, ask, CPU, say, TestBridge } from "../../../../test/workerd.ts";
import { Conversation } from "../../../conversation.ts";

const BRIDGE = "the bridge";

afterEach(async () => {
  vi.useRealTimers();
  await reset();
});
beforeEach(() => {
  setVariables({ GATEWAY_TOOLS: "rules", TIMEZONE: "Europe/Berlin" });
  at(T0);
});

const shed = (online: boolean) => [agent("shed", { online, tools: [CPU] })];
const watch = (more: object = {}) =>
  make("watch", { name: "Shed offline", agent_id: "shed", reading: "presence", is: "offline", ...more });

async function gone(bridge: TestBridge): Promise<void> {
  bridge.close();
  await until(
    async () => (await rowsOf(ruleHome(), "SELECT 1 FROM bridge WHERE gone_at IS NOT NULL")).length > 0,
    { what: "it is gone" },
  );
}

test("a device that is offline when the hours of its watch begin is told of then", async () => {
  const bridge = await TestBridge.connect(shed(true));
  await say("annas", script(watch({ only_between: "09:01-11:00", for_minutes: 0 }), { text: "ok" }));
  at(T0 + 20_000);
  bridge.send({ t: "agents", agents: shed(false) });
  await until(async () => {
    const rows = await rowsOf<{ state: string }>(ruleHome(), "SELECT state FROM rule");
    return rows.some(({ state }) => state.includes('"value":false'));
  });
  expect(await told("annas")).toEqual([]);
  await passUntil(T0 + MINUTE + 5_000);
  expect(await told("annas")).toHaveLength(1);
});

test("hours that begin while Home tells something else are not overlooked", async () => {
  // The reminder comes 5 s before the hours begin.
  at(T0 + 55_000);
  await TestBridge.connect(shed(false));
  const tea = make("remind", { text: "tea", in_minutes: 1 });
  await say("annas", script(watch({ only_between: "09:02-11:00", for_minutes: 0 }), tea, { text: "ok" }));
  const telling = hold(Conversation, "notice");
  const passing = passUntil(T0 + 2.5 * MINUTE);
  await telling.reached();
  at(T0 + 2 * MINUTE);
  telling.release();
  await passing;
  expect(await told("annas")).toEqual(["⏰ tea", expect.stringContaining("Shed offline")]);
});

test("a bridge that dials again and again and does not fit is gone once, since it was last here", async () => {
  const bridge = await TestBridge.connect(shed(true));
  await say("annas", script(watch(), { text: "ok" }));
  await gone(bridge);
  for (const minutes of [1, 6, 11, 16]) {
    await passUntil(T0 + minutes * MINUTE);
    const old = await TestBridge.dial();
    old.send({ t: "hello", protocol: BRIDGE_PROTOCOL, bridge: BRIDGE, version: "0.1.0" });
    await until(() => old.closed, { what: "it is turned away" });
  }
  await passUntil(T0 + 30 * MINUTE);
  expect(await told("annas")).toEqual([
    "⚠ The home's bridge is offline since 09:00; one watch cannot be checked meanwhile.",
  ]);
});

describe("in quiet hours", () => {
  const GONE = "⚠ The home's bridge is offline since 09:00; one watch cannot be checked meanwhile.";

  beforeEach(() =>
    setVariables({ GATEWAY_TOOLS: "rules", TIMEZONE: "Europe/Berlin", QUIET_HOURS: "08:00-10:00" }),
  );

  /** What waits for `annas`. */
  const waiting = async () =>
    await rowsOf(ruleHome(), "SELECT id FROM notice WHERE recipient = 'a/api/annas'");
  const ofBridge = async (conversation: string) =>
    (await told(conversation)).filter((text) => text.includes("The home's bridge"));

  async function back(): Promise<TestBridge> {
    const bridge = await TestBridge.connect(shed(true));
    await passed(bridge);
    return bridge;
  }

  test("an absence that is over by the morning is told only to those with a critical watch", async () => {
    let bridge = await TestBridge.connect(shed(true));
    await say("annas", script(watch({ for_minutes: 60 }), { text: "ok" }));
    await say("safety", script(watch({ name: "Shed away", for_minutes: 60 }), { text: "ok" }));
    const rules = await rowsOf<{ id: string; maker: string }>(ruleHome(), "SELECT id, maker FROM rule");
    const id = rules.find(({ maker }) => maker.includes("safety"))?.id;
    const body = JSON.stringify({ severity: "critical" });
    expect((await ask(`/v1/rules/${id}`, { method: "PATCH", body })).status).toBe(200);
    for (const n of [1, 2]) {
      await gone(bridge);
      await passUntil(T0 + n * 20 * MINUTE);
      expect(await waiting()).toHaveLength(1);
      bridge = await back();
      expect(await ofBridge("safety")).toHaveLength(2 * n);
      expect(await waiting()).toEqual([]);
    }
    await passUntil(T0 + 61 * MINUTE);
    // The clock jumps, so the last line counts as dead.
    expect((await ofBridge("annas")).filter((text) => !text.includes("since 09:40"))).toEqual([]);
  });

  test("one that was told before them ends in the morning, and one that goes on is told then", async () => {
    at(T0 - 70 * MINUTE);
    let bridge = await TestBridge.connect(shed(true));
    await say("annas", script(watch(), { text: "ok" }));
    await gone(bridge);
    await passUntil(T0 - 30 * MINUTE);
    const evening = "⚠ The home's bridge is offline since 07:50; one watch cannot be checked meanwhile.";
    expect(await told("annas")).toEqual([evening]);
    bridge = await back();
    at(T0);
    await gone(bridge);
    await passUntil(T0 + 59 * MINUTE);
    expect(await told("annas")).toEqual([evening]);
    await passUntil(T0 + 61 * MINUTE);
    expect(await told("annas")).toEqual([evening, "✓ The home's bridge is online again since 08:30.", GONE]);
  });

  test.each([
    ["end sooner", "08:00-09:30", 30],
    ["end later", "08:00-10:30", 90],
    ["are no more", "off", 20],
  ])("what waits is told when they %s", async (_, quiet_hours, minutes) => {
    const bridge = await TestBridge.connect(shed(true));
    await say("annas", script(watch(), { text: "ok" }));
    await gone(bridge);
    await passUntil(T0 + 20 * MINUTE);
    const body = JSON.stringify({ quiet_hours });
    expect((await ask("/v1/home/clock", { method: "PATCH", body })).status).toBe(200);
    await passUntil(T0 + minutes * MINUTE - 1);
    if (minutes > 20) expect(await told("annas")).toEqual([]);
    await passUntil(T0 + (minutes + 1) * MINUTE);
    expect(await told("annas")).toEqual([GONE]);
  });
});
