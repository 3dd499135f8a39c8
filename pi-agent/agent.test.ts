import { VERSION } from "@edgecall/core/protocol/names.ts";
import { rulesHash } from "@edgecall/core/rules/rules-hash.ts";
import { afterEach, expect, test } from "vitest";
import { until } from "../test/wait.ts";
import type { Agent } from "./agent.ts";
import { startAgent } from "./agent.ts";
import { type Broker, memoryLog, Peer, readyAgent, startBroker, testSettings } from "./testing/home.ts";
import { openToolbox } from "./toolbox/toolbox.ts";

const open: Array<{ stop(): Promise<void> }> = [];
afterEach(async () => {
  for (const one of open.splice(0).reverse()) await one.stop();
});

async function home(): Promise<{ broker: Broker; peer: Peer }> {
  const broker = await startBroker();
  open.push(broker);
  const peer = await Peer.connect(broker.port);
  open.push(peer);
  return { broker, peer };
}

function keep<T extends Agent>(agent: T): T {
  open.push(agent);
  return agent;
}

test("on connect it publishes its whole description, retained, and a heartbeat at once", async () => {
  const { broker, peer } = await home();
  const { log } = memoryLog();
  const agent = keep(await readyAgent(testSettings(broker.port), { log }));
  await until(() => peer.received.some(({ kind }) => kind === "reports"));
  const said = Object.fromEntries(peer.received.map(({ kind, payload }) => [kind, payload]));
  // Without its tools, an agent that is there gets a call by action as a prompt.
  expect(Object.keys(said).slice(0, 3)).toEqual(["capabilities", "tools", "presence"]);
  expect(said.presence).toEqual({
    state: "online",
    boot_id: agent.bootId,
    reason: "birth",
    rules: await rulesHash([]),
  });
  expect(said.capabilities).toEqual({
    agent_id: "eye",
    capabilities: expect.stringMatching(/^eye sensor node — .*CPU\/memory\/disk stats, process monitoring/),
    agent_type: "monitor",
    version: VERSION,
    features: [
      "tool",
      "cancel",
      "ack",
      "acks",
      "events",
      "presence",
      "tools",
      "watch",
      "question",
      "job",
      "upload",
      "gateway",
      "route",
      "call",
      "rules",
      "truths",
    ],
  });
  expect(said.tools).toMatchObject({ hash: expect.stringMatching(/^[0-9a-f]{16}$/) });
  const actions = (said.tools?.tools ?? []) as unknown[];
  expect(actions[1]).toMatchObject({
    name: "disk",
    parameters: { type: "object", additionalProperties: false },
    timeout_ms: 10_000,
    effect: "read",
    idempotent: true,
  });
  expect(said.reports).toMatchObject({
    agent_id: "eye",
    agent_type: "monitor",
    report_type: "heartbeat",
    payload: {
      uptime_sec: expect.any(Number),
      actions_total: 0,
      actions_success: 0,
      actions_failed: 0,
      memory_bytes: expect.any(Number),
      custom: {},
    },
  });
  // A later client finds the retained messages, and no heartbeat.
  const late = await Peer.connect(broker.port);
  open.push(late);
  await until(() => late.received.length >= 3);
  expect(late.received.map(({ kind, retain }) => [kind, retain]).sort()).toEqual([
    ["capabilities", true],
    ["presence", true],
    ["tools", true],
  ]);
});

test("a goodbye on stop, a last will on a broken connection", async () => {
  const { broker, peer } = await home();
  const { log } = memoryLog();
  const presence = () =>
    peer.received.filter(({ kind }) => kind === "presence").map(({ payload }) => payload.reason);
  const first = await readyAgent(testSettings(broker.port), { log });
  await first.stop();
  await until(() => presence().includes("shutdown"));
  expect(presence()).toEqual(["birth", "shutdown"]);

  const second = keep(await readyAgent(testSettings(broker.port), { log }));
  // The broker cuts the connection without a DISCONNECT: the will is published, and the agent reconnects by itself.
  const client = broker.aedes as unknown as { clients: Record<string, { conn: { destroy(): void } }> };
  client.clients["edgecall-eye"]?.conn.destroy();
  await until(() => presence().at(-1) === "birth" && presence().includes("last will"));
  expect(second.bootId).not.toBe(first.bootId);
});

test("a broker that comes back empty gets everything again", async () => {
  const { broker, peer } = await home();
  const { log } = memoryLog();
  keep(await readyAgent(testSettings(broker.port), { log }));
  await peer.stop();
  await broker.stop();
  const again = await startBroker(broker.port);
  open.push(again);
  const late = await Peer.connect(again.port);
  open.push(late);
  await until(() => new Set(late.received.map(({ kind }) => kind)).size >= 4, {
    what: "all adverts are back",
  });
  const reply = await late.ask("eye", { command: "ping", request_id: "p" });
  expect(reply.payload).toEqual({ pong: true, request_id: "p" });
});

test("a late will of an earlier connection is answered with a new birth", async () => {
  const { broker, peer } = await home();
  const { log } = memoryLog();
  const agent = keep(await readyAgent(testSettings(broker.port), { log }));
  await until(() => peer.received.some(({ kind }) => kind === "presence"));
  peer.received.length = 0;
  const will = { state: "offline", boot_id: agent.bootId, reason: "last will" };
  await peer.send("eye", JSON.stringify(will), { kind: "presence", retain: true });
  await until(() => peer.received.some(({ payload }) => payload.reason === "birth"));
});

test("messages that this agent left before it was killed are not taken for another agent, however often the connection breaks", async () => {
  const { broker, peer } = await home();
  const past = { state: "online", boot_id: "the boot before", reason: "birth" };
  await peer.send("eye", JSON.stringify(past), { kind: "presence", retain: true });
  const { log, lines } = memoryLog();
  keep(await readyAgent(testSettings(broker.port), { log }));
  for (let losses = 1; losses <= 5; losses += 1) {
    await until(() => lines.filter(({ event }) => event === "mqtt.connected").length === losses, {
      within: 8_000,
    });
    const { clients } = broker.aedes as unknown as { clients: Record<string, { close(): void }> };
    await until(() => clients["edgecall-eye"]);
    clients["edgecall-eye"]?.close();
    await until(() => lines.filter(({ event }) => event !== "mqtt.connected").length >= losses);
  }
  await until(() => lines.filter(({ event }) => event === "mqtt.offline").length === 5);
  expect(lines.find(({ event }) => event === "mqtt.duplicate_agent_id")).toBeUndefined();
}, 20_000);

test("a broker that is down, or refuses the password, does not end the agent", async () => {
  const { log, lines } = memoryLog();
  const { broker } = await home();
  broker.aedes.authenticate = (_client, _user, password, done) => {
    if (password?.toString() === "right") done(null, true);
    else done(Object.assign(new Error("no"), { returnCode: 4 }) as never, false);
  };
  const settings = testSettings(broker.port);
  const mqtt = { ...settings.mqtt, username: "eye", password: "wrong" };
  const agent = keep(await startAgent({ ...settings, mqtt }, { log }));
  await until(() => lines.filter(({ event }) => event === "mqtt.offline").length >= 2, { within: 8_000 });
  expect(lines.at(-1)?.fields.reason).toMatch(/not authorized|bad user/i);
  await agent.stop();

  const down = memoryLog();
  await broker.stop();
  const other = await startAgent(testSettings(broker.port), { log: down.log });
  await until(() => down.lines.some(({ event }) => event === "mqtt.offline"));
  await other.stop();
}, 20_000);

test("[tools] enabled limits the tools", async () => {
  const { broker, peer } = await home();
  const { log } = memoryLog();
  const settings = testSettings(broker.port);
  const only = (enabled: string[]) => ({ ...settings, tools: { ...settings.tools, enabled } });
  keep(await readyAgent(only(["cpu"]), { log, toolbox: openToolbox }));
  const { payload } = await peer.ask("eye", { command: "tools_list", request_id: "t" });
  expect(payload).toMatchObject({ count: 1, tools: [{ name: "cpu" }], request_id: "t" });
});
