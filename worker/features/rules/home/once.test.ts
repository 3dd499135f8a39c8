/** A watch for once whose firing waits for the end of the quiet hours, and what people do meanwhile. */
import { reset } from "cloudflare:test";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { call, post } from "../../../../test/keyed-home.ts";
import { at, MINUTE, make, passUntil, ruleHome, T0, told } from "../../../../test/rule-clock.ts";
import { script } from "../../../../test/scripted-model.ts";
import { rowsOf } from "../../../../test/stopping.ts";
import { setVariables } from "../../../../test/variables.ts";
import { until } from "../../../../test/wait.ts";
import { agent, CPU, say, TestBridge } from "../../../../test/workerd.ts";
import type { RuleList } from "../contract.ts";

afterEach(async () => {
  vi.useRealTimers();
  await reset();
});
beforeEach(() => {
  setVariables({ GATEWAY_TOOLS: "rules", TIMEZONE: "Europe/Berlin", QUIET_HOURS: "08:30-10:00" });
  at(T0);
});

const shed = (online: boolean) => agent("shed", { online, tools: [CPU] });
const list = async () => ((await call("/v1/rules")).body as unknown as RuleList).rules;

/** @returns the id of the watch that fired and was not told */
async function held(): Promise<string> {
  const bridge = await TestBridge.connect([shed(true)]);
  const offline = { name: "Shed", agent_id: "shed", reading: "presence", is: "offline", for_minutes: 0 };
  await say("shed", script(make("watch", { ...offline, repeat: "once" }), { text: "ok" }));
  bridge.send({ t: "agents", agents: [shed(false)] });
  await until(async () => (await rowsOf(ruleHome(), "SELECT rule FROM firing")).length > 0, {
    what: "it fires",
  });
  expect(await told("shed")).toEqual([]);
  return (await list())[0]?.id ?? "";
}

test("answered before it was told, it has done its work and is gone", async () => {
  const id = await held();
  expect((await post(`/v1/rules/${id}/press`, { do: "ack" })).body).toMatchObject({
    done: true,
    text: expect.stringContaining("✔ Answered by"),
  });
  expect(await list()).toEqual([]);
});

test("changed to each time, it is watched on behind its firing", async () => {
  const id = await held();
  const body = JSON.stringify({ repeat: "each_time" });
  expect((await call(`/v1/rules/${id}`, { method: "PATCH", body })).status).toBe(200);
  await passUntil(T0 + 61 * MINUTE);
  await TestBridge.connect([shed(true)]);
  await passUntil(T0 + 70 * MINUTE);
  const messages = (await told("shed")).filter((text) => text.includes("Shed"));
  expect(messages).toEqual([
    expect.stringContaining("Shed: offline since 09:00. shed."),
    expect.stringContaining("✓ Shed: over at 10:01."),
  ]);
});
