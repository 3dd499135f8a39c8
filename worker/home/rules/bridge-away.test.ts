/** What is told of the bridge's absence, and of devices' presence at their hours. */
import { reset } from "cloudflare:test";
import { BRIDGE_PROTOCOL } from "@edgecall/core/protocol/names.ts";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { at, MINUTE, make, passUntil, ruleHome, T0, told } from "../../../test/rule-clock.ts";
import { script } from "../../../test/scripted-model.ts";
import { rowsOf } from "../../../test/stopping.ts";
import { setVariables } from "../../../test/variables.ts";
import { until } from "../../../test/wait.ts";
import { agent, ask, CPU, say, TestBridge } from "../../../test/workerd.ts";

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

test("in quiet hours its absence and its return wait for the morning, and a critical watch's do not", async () => {
  setVariables({ GATEWAY_TOOLS: "rules", TIMEZONE: "Europe/Berlin", QUIET_HOURS: "08:00-10:00" });
  const bridge = await TestBridge.connect(shed(true));
  await say("annas", script(watch(), { text: "ok" }));
  await say("safety", script(watch(), { text: "ok" }));
  const rules = await rowsOf<{ id: string; maker: string }>(ruleHome(), "SELECT id, maker FROM rule");
  const id = rules.find(({ maker }) => maker.includes("safety"))?.id;
  const body = JSON.stringify({ severity: "critical" });
  expect((await ask(`/v1/rules/${id}`, { method: "PATCH", body })).status).toBe(200);
  await gone(bridge);
  await passUntil(T0 + 20 * MINUTE);
  expect(await told("annas")).toEqual([]);
  const ofBridge = async () => (await told("safety")).filter((text) => text.includes("The home's bridge"));
  expect(await ofBridge()).toHaveLength(1);
  await TestBridge.connect(shed(true));
  await until(async () => (await ofBridge()).length === 2, { what: "it is back" });
  expect(await told("annas")).toEqual([]);
  await passUntil(T0 + 61 * MINUTE);
  expect((await told("annas")).slice(0, 2)).toEqual([
    "⚠ The home's bridge is offline since 09:00; one watch cannot be checked meanwhile.",
    "✓ The home's bridge is online again since 09:20.",
  ]);
});
