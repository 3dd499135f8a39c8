// @module-tag needs/mosquitto
/** What is wrong is said the same by list and doctor, as the program says it that sees it: a whole stack over a real Mosquitto. */
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { counterTime } from "@edgecall/core/protocol/counter.ts";
import { expect, test } from "vitest";
import { findMosquitto } from "../../bridge/testkit/brokers.ts";
import { TOKENS } from "../tokens.ts";
import { until } from "../wait.ts";
import { edgecall } from "./command.ts";
import { useStack } from "./stack.ts";

type Shown = { code: string; text: string; cure: string };
type Finding = { link: string; is: string; says: string; todo?: string };

const stack = useStack({ mosquitto: findMosquitto() }, async (stack) => {
  await stack.startAgent({ id: "pi" });
  await stack.gateway.online("pi");
});

const here = () => ({ EDGECALL_URL: stack.gateway.url, EDGECALL_TOKEN: TOKENS.owner });
const json = async (path: string) => (await (await stack.gateway.fetch(path)).json()) as unknown;
const conditionsOf = async (path: string): Promise<Shown[]> => {
  const body = (await json(path)) as { conditions?: Shown[]; bridge?: { conditions?: Shown[] } };
  return body.conditions ?? body.bridge?.conditions ?? [];
};

async function doctor(): Promise<Finding[]> {
  const { out } = await edgecall(["doctor", "--json", "--no-model"], here());
  return JSON.parse(out) as Finding[];
}

test("O1: with two bridges of one BRIDGE_ID at one broker all 56 calls are answered, and doctor, list and log say that there are two", async () => {
  const first = stack.bridge;
  await stack.startBridge("e2e");
  const second = stack.bridge;
  const said = () => conditionsOf("/v1/status");
  await until(async () => (await said()).some(({ code }) => code === "second_bridge"), {
    within: 30_000,
    every: 250,
    what: "the gateway says that there are two",
  });
  const answered: boolean[] = [];
  for (let call = 0; call < 56; call += 1) {
    const { body } = await stack.gateway.command("pi", "ping");
    answered.push(body.payload?.pong === true);
  }
  expect(answered.filter(Boolean)).toHaveLength(56);
  const [condition] = await said();
  expect(await doctor()).toContainEqual({
    link: "bridge",
    is: "wrong",
    says: condition?.text,
    todo: condition?.cure,
  });
  expect([...first.events("gateway.standby"), ...second.events("gateway.standby")]).not.toEqual([]);
  for (const bridge of [first, second]) expect(bridge.events("broker.down")).toEqual([]);
  await first.stop();
  await until(async () => (await stack.gateway.command("pi", "ping")).body.payload?.pong, {
    within: 30_000,
    every: 250,
    what: "the other one serves the home alone",
  });
  await until(async () => (await said()).length === 0, {
    within: 30_000,
    every: 500,
    what: "it is not said any more",
  });
}, 120_000);

test("O3: a device that finds its own last presence at the broker mends that by itself", async () => {
  const counter = join(dirname(stack.workspaceOf("pi")), "pi.state", "counter.json");
  const stopped = async () => {
    await stack.agent("pi").stop();
    await stack.gateway.offline("pi");
  };
  const next = () => (JSON.parse(readFileSync(counter, "utf8")) as { next: number }).next;
  await stopped();
  writeFileSync(counter, JSON.stringify({ next: Date.UTC(2033, 0, 1) * 1_024 }));
  await stack.restartAgent("pi");
  await stack.gateway.online("pi");
  await stopped();
  rmSync(counter);
  await stack.restartAgent("pi");
  // Its first presence counts for nothing; it reads its own last one, and goes on above that.
  await stack.gateway.online("pi", 40_000);
  expect((await stack.gateway.command("pi", "ping")).body.payload?.pong).toBe(true);
  expect(await conditionsOf("/v1/agents/pi")).toEqual([]);
  expect(counterTime(next())).toBeGreaterThan(Date.UTC(2033, 0, 1));
}, 120_000);

test("O3: a device whose clock was ahead and that lost its counter.json is said as that, and is let in without pairing anew", async () => {
  const counter = join(dirname(stack.workspaceOf("pi")), "pi.state", "counter.json");
  await stack.agent("pi").stop();
  await stack.gateway.offline("pi");
  // As a clock of 2038 leaves it.
  const ahead = Date.UTC(2038, 0, 19) * 1_024;
  writeFileSync(counter, JSON.stringify({ next: ahead }));
  await stack.restartAgent("pi");
  await stack.gateway.online("pi");
  await stack.agent("pi").stop();
  await stack.gateway.offline("pi");
  rmSync(counter);
  // Nothing retained tells the device of its own past.
  await clearRetained("evoclaw/agents/pi/presence");
  await stack.restartAgent("pi");
  const seen = async () => (await conditionsOf("/v1/agents/pi")).find(({ code }) => code === "old_numbers");
  const shown = await until(seen, { within: 40_000, every: 250, what: "the gateway says why" });
  expect(shown.text).toMatch(/numbered as older ones than the gateway has, so none counts until 2038-01-19T/);
  expect((await doctor()).find(({ says }) => says === `pi: ${shown.text}`)).toMatchObject({
    link: "agent",
    is: "wrong",
    todo: shown.cure,
  });
  const { code, out } = await edgecall(["readmit", "pi"], here());
  expect(out).toBe("pi is online\n");
  expect(code).toBe(0);
  expect(await conditionsOf("/v1/agents/pi")).toEqual([]);
  const { next } = JSON.parse(readFileSync(counter, "utf8")) as { next: number };
  expect(counterTime(next)).toBeGreaterThan(Date.UTC(2038, 0, 19));
  // It lasts over a restart.
  await stack.agent("pi").stop();
  await stack.gateway.offline("pi");
  await stack.restartAgent("pi");
  await stack.gateway.online("pi");
}, 120_000);

async function clearRetained(topic: string): Promise<void> {
  const { connectAsync } = await import("mqtt");
  const client = await connectAsync(stack.mqttUrl);
  await client.publishAsync(topic, "", { qos: 1, retain: true });
  await client.endAsync();
}
