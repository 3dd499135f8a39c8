/**
 * `npm run bench -- --rules`: how long a rule that acts takes from a device's value to its command, with 50 rules and 19 messages a second,
 * on a real broker and this machine's disk. Beside it the floor: the two writes that have to be durable before the command may leave.
 * The bridge has the short pauses of tests, so that each rule runs several times; none of them is on the way that is measured.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { open } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { AllowedAutomation } from "@edgecall/core/protocol/automation.ts";
import { writeAtomic } from "@edgecall/node/atomic-write.ts";
import { KeyPair } from "@edgecall/node/keypair.ts";
import { connectAsync } from "mqtt";
import { BRIDGE_NODE_ENVIRONMENT, BRIDGE_NODE_FLAGS } from "../../bridge/node-options.ts";
import { allowedRule, readingOf, signedRule, stepOf } from "../../bridge/testkit/allowed-rule.ts";
import { findMosquitto, PlayedMosquitto } from "../../bridge/testkit/brokers.ts";
import { PlayedHome } from "../../bridge/testkit/home.ts";
import { bundleBridge } from "../../local/bundles.ts";
import { until } from "../../test/wait.ts";
import { percentile } from "../stats.ts";

const RULES = 50;
const RUNS_OF_EACH = 5;
const MESSAGES_A_SECOND = 19;
/** Rules of a home that act send 300 commands an hour. */
const FLOORS = 100;
const WITHIN_MS = 60_000;

const program = findMosquitto();
if (program === undefined) {
  console.error("Mosquitto is missing, the broker of the bench: apt-get install mosquitto");
  process.exit(1);
}
const folder = mkdtempSync(join(tmpdir(), "edgecall-bench-rules-"));
const broker = await PlayedMosquitto.start(program);
const home = new PlayedHome();
const gateway = KeyPair.make();
Object.assign(home, { devices: true, rules: true, texts: [], gatewayKey: gateway.publicKey });
const url = await home.start();
const client = await connectAsync(broker.url);
const publish = (topic: string, text: string, retain = true) =>
  client.publishAsync(topic, text, { qos: 1, retain });
const all = Array.from({ length: RULES }, (_, n) => n);
const arrived = new Map<string, () => void>();
const say = (what: string, figure: string) => console.log(`${what.padEnd(46)}${figure}`);
const share = (of: readonly number[]) =>
  `p50 ${percentile(of, 0.5).toFixed(1)} ms, p95 ${percentile(of, 0.95).toFixed(1)} ms, max ${Math.max(...of).toFixed(1)} ms`;

let child: ChildProcess | undefined;
try {
  await measure();
} finally {
  child?.kill("SIGKILL");
  await client.endAsync(true);
  await home.stop();
  await broker.stop();
  rmSync(folder, { recursive: true, force: true });
}
process.exit(0);

async function measure(): Promise<void> {
  await announce();
  await startBridge();
  const rules = all.map(rule);
  home.send({ t: "automations", set: rules.map((one) => signedRule(gateway, one)), drop: [] });
  await until(async () => (await states(rules)).every((state) => state === "armed"), {
    within: WITHIN_MS,
    every: 500,
    what: "all rules are armed",
  });
  const noise = setInterval(() => {
    const n = Math.floor(Math.random() * RULES);
    void publish(`dial/${n}/near`, (20 + Math.random()).toFixed(2), false);
  }, 1_000 / MESSAGES_A_SECOND);
  const latencies: number[] = [];
  const floors: number[] = [];
  for (let round = 0; round < RUNS_OF_EACH; round += 1)
    for (const n of all) {
      latencies.push(await fires(n));
      if (floors.length < FLOORS && latencies.length % 2 === 0) floors.push(await floor());
      await publish(`dial/${n}`, "10");
    }
  clearInterval(noise);
  const size = statSync(join(folder, "automations.json")).size;
  say("rules, messages a second", `${RULES}, ${MESSAGES_A_SECOND}`);
  say("their file", `${(size / 1_024).toFixed(0)} KiB`);
  say(`value → command (${latencies.length} runs)`, share(latencies));
  say(`two durable writes, nothing else (${floors.length})`, share(floors));
  say("above the floor", `p95 ${(percentile(latencies, 0.95) - percentile(floors, 0.95)).toFixed(1)} ms`);
  say("news that were told", `${home.of("news").length}`);
}

async function announce(): Promise<void> {
  client.on("message", (topic, payload) => {
    arrived.get(topic)?.();
    // The plug does it.
    void publish(topic.replace("/set", "/state"), payload.toString());
  });
  await client.subscribeAsync("plug/+/set", { qos: 1 });
  for (const n of all) {
    const config = (kind: string, id: string, of: object) =>
      publish(
        `homeassistant/${kind}/${id}/config`,
        JSON.stringify({ unique_id: id, device: { identifiers: [id], name: id }, ...of }),
      );
    const unit = { device_class: "temperature", unit_of_measurement: "°C" };
    await config("sensor", `dial-${n}`, { name: "Temperature", state_topic: `dial/${n}`, ...unit });
    const device = { device: { identifiers: [`dial-${n}`], name: `dial-${n}` } };
    await config("sensor", `near-${n}`, { name: "Near", state_topic: `dial/${n}/near`, ...unit, ...device });
    await config("switch", `plug-${n}`, {
      name: null,
      command_topic: `plug/${n}/set`,
      state_topic: `plug/${n}/state`,
    });
    await publish(`dial/${n}`, "10");
    await publish(`plug/${n}/state`, "OFF");
  }
}

async function startBridge(): Promise<void> {
  const path = join(folder, "bridge.mjs");
  writeFileSync(path, await bundleBridge({ testClock: true }));
  child = spawn(process.execPath, [...BRIDGE_NODE_FLAGS, path], {
    env: {
      PATH: process.env.PATH,
      ...BRIDGE_NODE_ENVIRONMENT,
      ...{ GATEWAY_URL: url, BRIDGE_TOKEN: "secret", MQTT_URL: broker.url },
      ...{ BRIDGE_STATE: folder, HEALTH_PORT: "0", MQTT_HISTORY: "off" },
    },
    stdio: ["ignore", "ignore", "inherit", "ipc"],
  });
  await once(child, "message");
  await until(() => all.every((n) => known(`plug-${n}`) && known(`dial-${n}`)), {
    within: WITHIN_MS,
    what: "all devices are known",
  });
}

function known(id: string): { key: string; allow: string } | undefined {
  for (const frame of home.frames.toReversed()) {
    if (frame.t !== "snapshot" && frame.t !== "agents") continue;
    const hosted = frame.agents.find((agent) => agent.id === id)?.hosted;
    if (hosted) return hosted;
  }
  return undefined;
}

function rule(n: number): AllowedAutomation {
  const of = (id: string) => {
    const found = known(id);
    if (!found) throw new Error(`${id} is not known`);
    return { id, ...found };
  };
  return allowedRule(n + 16, {
    name: `Rule ${n}`,
    when: [readingOf(of(`dial-${n}`), { value: 50, unit: "°C" })],
    do: [stepOf(of(`plug-${n}`))],
  });
}

async function states(rules: readonly AllowedAutomation[]): Promise<string[]> {
  const id = crypto.randomUUID();
  const order = { do: "status" as const, rules: rules.map((one) => one.id), language: "en" as const };
  home.send({ t: "order", id, order });
  const { ordered } = await home.next("ordered", (frame) => frame.id === id);
  return "status" in ordered ? ordered.status.map(({ state }) => state) : [];
}

/** @returns ms from the value to the command */
async function fires(n: number): Promise<number> {
  const { promise, resolve } = Promise.withResolvers<number>();
  const began = performance.now();
  arrived.set(`plug/${n}/set`, () => resolve(performance.now() - began));
  void publish(`dial/${n}`, "60");
  const late = sleep(WITHIN_MS, undefined, { ref: false }).then(() => {
    throw new Error(`rule ${n} sent nothing within ${WITHIN_MS / 1_000} s`);
  });
  const ms = await Promise.race([promise, late]);
  arrived.delete(`plug/${n}/set`);
  // The beginnings of two runs are apart.
  await sleep(150);
  return ms;
}

/** A file of that size, and a line of the ledger, each on the disk. */
async function floor(): Promise<number> {
  const content = readFileSync(join(folder, "automations.json"));
  const line = Buffer.alloc(200, "x");
  const ledger = await open(join(folder, "floor.jsonl"), "a");
  const began = performance.now();
  await writeAtomic(join(folder, "floor.json"), content);
  await ledger.appendFile(line);
  await ledger.sync();
  const ms = performance.now() - began;
  await ledger.close();
  return ms;
}
