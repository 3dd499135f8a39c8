/**
 * A home in which nothing happens: a hundred agents send heartbeats every 30 s, and none of them reaches Home. Broker,
 * bridge and Worker are real, and so are ninety agents; ten speak only EvoClaw's messages. The test reads the line from
 * the bridge to the Worker on the wire.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pass } from "node:timers/promises";
import { HEARTBEAT_EVERY_MS, KEEPALIVE_EVERY_MS } from "@edgecall/core/protocol/names.ts";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { PlayedAgent } from "../../bridge/testkit/agent.ts";
import { type Broker, startBroker } from "../../local/broker.ts";
import { bundleWorker } from "../../local/bundles.ts";
import { startWorker } from "../../local/gateway.ts";
import type { Agent } from "../../pi-agent/agent.ts";
import { readSettings } from "../../pi-agent/config/settings.ts";
import { readyAgent } from "../../pi-agent/testing/home.ts";
import { TOKENS, testVars } from "../tokens.ts";
import { until } from "../wait.ts";
import { GatewayClient } from "./gateway-client.ts";
import { Observer } from "./observer.ts";
import { Program } from "./program.ts";
import { type Frame, type Way, WireTap } from "./wire-tap.ts";

const OWN = 90;
const FOREIGN = 10;
/** Six heartbeats of each agent, and twice the time after which a silent agent is offline. */
const QUIET_MS = 180_000;
/** Workers and Miniflare let an object sleep after 10 s without a request. */
const ASLEEP_AFTER_MS = 12_000;
const CROSSES_WITHIN_MS = 1_000;

const dir = mkdtempSync(join(tmpdir(), "edgecall-idle-"));
/** Home's reports about itself (test/watched-worker.ts). */
const home: string[] = [];
const own: Agent[] = [];
const foreign: PlayedAgent[] = [];
/** Ends everything that was started, in reverse order, also when the start itself failed. */
const ends: Array<() => unknown> = [() => rmSync(dir, { recursive: true, force: true })];
let broker: Broker;
let tap: WireTap;
let bridge: Program;
let gateway: GatewayClient;
let observer: Observer;

beforeAll(async () => {
  broker = await startBroker();
  ends.push(() => broker.stop());
  const worker = await startWorker({
    port: 0,
    dir: join(dir, "gateway"),
    vars: testVars,
    bundle: await bundleWorker({ entry: "test/watched-worker.ts" }),
    onLog: (line) => home.push(line),
  });
  ends.push(() => worker.stop());
  gateway = new GatewayClient(worker.url);
  tap = await WireTap.open(worker.url);
  ends.push(() => tap.close());
  const env = {
    BRIDGE_ID: "idle",
    GATEWAY_URL: tap.url,
    BRIDGE_TOKEN: TOKENS.bridge,
    MQTT_URL: broker.url,
    HEALTH_PORT: "0",
  };
  bridge = new Program({ name: "bridge", script: "bridge/main.ts", env });
  ends.push(() => bridge.stop());
  await bridge.ready;
  observer = await Observer.start(broker.url);
  ends.push(() => observer.stop());
  ends.push(() => Promise.all([...own, ...foreign].map((agent) => agent.stop())));
  for (let n = 0; n < OWN; n += 1) own.push(await startOwn(`own-${n}`));
  for (let n = 0; n < FOREIGN; n += 1) foreign.push(await PlayedAgent.foreign(`evo-${n}`, broker.url));
  const beating = setInterval(beatForeign, HEARTBEAT_EVERY_MS);
  ends.push(() => clearInterval(beating));
}, 60_000);

afterEach(({ task }) => {
  if (task.result?.state === "fail") console.error(bridge.lines.slice(-20).join("\n"));
});

afterAll(async () => {
  for (const end of ends.reverse()) await end();
});

/** The real agent in this process; the figures of its heartbeats change. */
function startOwn(agentId: string): Promise<Agent> {
  const source = `agent_id = "${agentId}"\n[mqtt]\nurl = "${broker.url}"`;
  const { settings } = readSettings(source, { file: join(dir, agentId, "agent.toml") });
  return readyAgent(settings, { log: () => {} });
}

let beats = 0;
/** Heartbeats as EvoClaw's agent counts them (metrics.rs). */
function beatForeign(): void {
  beats += 1;
  const figures = {
    uptime_sec: 30 * beats,
    actions_total: beats,
    actions_success: beats,
    actions_failed: 0,
    memory_bytes: process.memoryUsage.rss(),
    custom: { fitness: Math.random() },
  };
  // A heartbeat that cannot be sent is missing in the count.
  for (const agent of foreign) agent.report("heartbeat", figures).catch(() => {});
}

const isPing = ({ text }: Frame) => text === "ping" || text === "pong";
const frames = (way: Way) => tap.frames.filter((frame) => frame.way === way && !isPing(frame));
/** Shortened to recognise them; an agent's frame has 4 KB. */
const heads = (some: Frame[]) => some.map(({ kind, text }) => `${kind} ${text.slice(0, 60)}`);
const pings = () => tap.frames.filter(({ text }) => text === "ping").length;
const times = (report: string) => home.filter((line) => line === `home: ${report}`).length;

function heartbeatsByAgent(): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { agent, kind, body } of observer.seen) {
    if (kind !== "reports" || body.report_type !== "heartbeat") continue;
    counts.set(agent, (counts.get(agent) ?? 0) + 1);
  }
  return counts;
}

async function onlineAgents(): Promise<number> {
  return (await gateway.agents()).filter(({ online }) => online).length;
}

test("a hundred agents' heartbeats of three minutes send nothing to Home, and a change reaches it at once", async () => {
  await until(async () => (await onlineAgents()) === OWN + FOREIGN, { within: 30_000, every: 200 });
  // From here on the test sends no request to the gateway, because that would wake Home.
  const asked = performance.now();
  const lastAt = () => Math.max(asked, tap.frames.findLast((frame) => !isPing(frame))?.at ?? 0);
  await until(() => performance.now() - lastAt() > ASLEEP_AFTER_MS, {
    within: 60_000,
    every: 100,
    what: "the wire is quiet",
  });
  const before = {
    up: frames("up").length,
    down: frames("down").length,
    bytes: { ...tap.bytes },
    pings: pings(),
    reports: home.length,
    built: times("built"),
    heartbeats: heartbeatsByAgent(),
  };
  // The frames so far show that the counters work. Their number depends on the bridge: agents that were there before
  // its snapshot share one frame.
  expect(before.up).toBeGreaterThan(0);
  expect(times("message")).toBe(before.up);

  await pass(QUIET_MS);

  const crossed = frames("up").slice(before.up);
  const heartbeats = [...heartbeatsByAgent()].map(([id, n]) => n - (before.heartbeats.get(id) ?? 0));
  const sent = heartbeats.reduce((sum, n) => sum + n, 0);
  const pinged = pings() - before.pings;
  console.log(
    `${QUIET_MS / 1_000} s: ${sent} heartbeats at the broker; bridge to Home: ${crossed.length} frames, ` +
      `${pinged} pings, ${tap.bytes.up - before.bytes.up} bytes; Home said ${home.length - before.reports} things`,
  );
  expect(heads(crossed)).toEqual([]);
  expect(heads(frames("down").slice(before.down))).toEqual([]);
  expect(home.slice(before.reports)).toEqual([]);
  // Heartbeats and connections existed, so they are not the reason for the silence.
  expect(heartbeats).toHaveLength(OWN + FOREIGN);
  expect(Math.min(...heartbeats)).toBeGreaterThanOrEqual(QUIET_MS / HEARTBEAT_EVERY_MS - 1);
  expect(pinged).toBeGreaterThanOrEqual(Math.floor(QUIET_MS / KEEPALIVE_EVERY_MS) - 1);

  const leaves = performance.now();
  const leaving = own[0]?.stop();
  const goodbye = await until(() => frames("up")[before.up], {
    within: CROSSES_WITHIN_MS,
    what: "its goodbye",
  });
  console.log(`a goodbye was at Home after ${Math.round(goodbye.at - leaves)} ms`);
  expect(JSON.parse(goodbye.text)).toMatchObject({
    t: "agents",
    agents: [{ id: "own-0", online: false, reason: "shutdown" }],
  });
  // Home was asleep: this change made a new instance.
  await until(() => times("built") > before.built, { within: CROSSES_WITHIN_MS, what: "Home wakes" });
  expect(times("built")).toBe(before.built + 1);
  await gateway.offline("own-0", CROSSES_WITHIN_MS);
  expect(await onlineAgents()).toBe(OWN + FOREIGN - 1);
  await leaving;
}, 300_000);
