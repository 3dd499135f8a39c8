/** What counts for an hour or until the bridge is back is in rows: a Home that crashed says nothing twice, and no more than it may. */
import { reset } from "cloudflare:test";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { turnOnBrowser } from "../../../../test/browsers.ts";
import { passed } from "../../../../test/keyed-home.ts";
import { at, MINUTE, make, passUntil, ruleHome, T0, told } from "../../../../test/rule-clock.ts";
import { script } from "../../../../test/scripted-model.ts";
import { rowsOf, stop } from "../../../../test/stopping.ts";
import { TOKENS } from "../../../../test/tokens.ts";
import { setVariables } from "../../../../test/variables.ts";
import { until } from "../../../../test/wait.ts";
import { agent, ask, CPU, say, TestBridge } from "../../../../test/workerd.ts";
import type { RuleList } from "../contract.ts";

let sent = 0;
afterEach(async () => {
  vi.useRealTimers();
  await reset();
});
beforeEach(() => {
  sent = 0;
  const fetch = async () => {
    sent += 1;
    return new Response(null, { status: 201 });
  };
  setVariables({ GATEWAY_TOOLS: "rules", TIMEZONE: "Europe/Berlin", WEB: { fetch } });
  at(T0);
});

const devices = (shed: boolean, attic = true) => [
  agent("shed", { online: shed, tools: [CPU] }),
  agent("attic", { online: attic, tools: [CPU] }),
];
const offline = (agent_id: string) =>
  make("watch", {
    name: `${agent_id} offline`,
    agent_id,
    reading: "presence",
    is: "offline",
    for_minutes: 0,
  });
const crash = () => stop("abort", ruleHome());
const firings = async () => (await rowsOf(ruleHome(), "SELECT at FROM firing WHERE rule LIKE 'w-%'")).length;

test("the twenty messages of an hour", async () => {
  const times = Array.from({ length: 20 }, (_, minute) => `09:${String(minute + 1).padStart(2, "0")}`);
  const reminders = times.map((time) => make("remind", { text: "tea", every: "day", at: time }).calls[0]);
  await TestBridge.connect(devices(true));
  await say("annas", script({ calls: reminders.flatMap((one) => one ?? []) }, { text: "ok" }));
  const watch = script(offline("shed"), { text: "ok" });
  await say("mias", watch, { method: "POST", body: JSON.stringify({ text: watch }), token: TOKENS.member });
  await passUntil(T0 + 25 * MINUTE);
  expect((await told("annas")).filter((text) => text === "⏰ tea")).toHaveLength(20);
  await crash();
  await TestBridge.connect(devices(false));
  await until(async () => (await firings()) > 0, { what: "the firing" });
  const { rules } = (await (await ask("/v1/rules")).json()) as RuleList;
  expect(rules.find(({ kind }) => kind === "watch")?.silent).toMatch(
    /^the home has sent as many messages as it may in an hour: one firing is held back until 10:0\d$/,
  );
  const mine = async () => (await told("mias")).filter((text) => text.startsWith("🔔"));
  await passUntil(T0 + 60 * MINUTE);
  expect(await mine()).toEqual([]);
  await passUntil(T0 + 65 * MINUTE);
  expect(await mine()).toHaveLength(1);
});

test("the pause after a message, in which others become one", async () => {
  const bridge = await TestBridge.connect(devices(true));
  await say("annas", script(offline("shed"), offline("attic"), { text: "ok" }));
  bridge.send({ t: "agents", agents: devices(false) });
  await until(async () => (await told("annas")).length > 0, { what: "the first message" });
  await crash();
  at(T0 + 10_000);
  await passed(await TestBridge.connect(devices(false, false)));
  expect(await firings()).toBe(2);
  expect(await told("annas")).toHaveLength(1);
  await passUntil(T0 + MINUTE / 2);
  expect(await told("annas")).toHaveLength(2);
});

test("that the bridge is gone", async () => {
  const bridge = await TestBridge.connect(devices(true));
  await say("annas", script(offline("shed"), { text: "ok" }));
  expect((await turnOnBrowser("https://push.example.org/anna")).status).toBe(201);
  bridge.close();
  await until(
    async () => (await rowsOf(ruleHome(), "SELECT 1 FROM bridge WHERE gone_at IS NOT NULL")).length > 0,
    { what: "it is gone" },
  );
  await passUntil(T0 + 6 * MINUTE);
  expect({ told: await told("annas"), sent }).toMatchObject({ told: { length: 1 }, sent: 1 });
  await crash();
  await passUntil(T0 + 30 * MINUTE);
  expect({ told: await told("annas"), sent }).toMatchObject({ told: { length: 1 }, sent: 1 });
  await crash();
  await TestBridge.connect(devices(true));
  await until(() => sent > 1, { what: "it is back" });
  expect((await told("annas"))[1]).toBe("✓ The home's bridge is online again since 09:30.");
});
