/** A bridge tells its gateway what it sees: devices with old numbers, and a broker that is away or ends the connection. */

import { type AddressInfo, createServer, type Socket } from "node:net";
import { describeCondition } from "@edgecall/core/conditions/conditions.ts";
import type { LogFields } from "@edgecall/node/log.ts";
import { Aedes } from "aedes";
import { connect, type MqttClient } from "mqtt";
import { afterEach, beforeEach, expect, test } from "vitest";
import { SignedAgent } from "../../test/signed-agent.ts";
import { until } from "../../test/wait.ts";
import { type Bridge, startBridge } from "../bridge.ts";
import { readSettings } from "../settings.ts";
import { PlayedAgent } from "../testkit/agent.ts";
import { PlayedHome } from "../testkit/home.ts";

let home: PlayedHome;
let bridge: Bridge;
let pi: SignedAgent;
let stopBroker: () => Promise<void>;
let url: string;
let sockets: Set<Socket>;
let clients: () => Record<string, unknown>;
let logged: Array<{ event: string; fields: LogFields | undefined }>;

beforeEach(async () => {
  logged = [];
  sockets = new Set();
  const aedes = await Aedes.createBroker();
  clients = () => (aedes as unknown as { clients: Record<string, unknown> }).clients;
  const server = createServer({ noDelay: true }, (socket) => {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
    aedes.handle(socket);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  url = `mqtt://127.0.0.1:${(server.address() as AddressInfo).port}`;
  let ended: Promise<void> | undefined;
  stopBroker = () => {
    ended ??= (async () => {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      for (const socket of sockets) socket.destroy();
      await new Promise<void>((resolve) => aedes.close(() => resolve()));
      await closed;
    })();
    return ended;
  };
  pi = await SignedAgent.make("pi");
  home = new PlayedHome();
  home.conditions = true;
  home.keys = [{ id: "pi", key: pi.publicKey, n: Date.UTC(2038, 0, 19) * 1_024 }];
  const env = { GATEWAY_URL: await home.start(), BRIDGE_TOKEN: "secret", MQTT_URL: url, HEALTH_PORT: "0" };
  const read = readSettings(env);
  if (!read.ok) throw new Error(read.errors.join("; "));
  bridge = startBridge(read.settings, (_, event, fields) => logged.push({ event, fields }));
  await home.next("snapshot");
  await until(() => bridge.ready());
});

afterEach(async () => {
  await bridge.stop();
  await home.stop();
  await stopBroker();
});

test("O3: a signed device whose numbers were used before is told of as that, until it goes on above them", async () => {
  const client = await PlayedAgent.silent("pi", url);
  const said = async (kind: "presence" | "reports") => {
    const fields = kind === "presence" ? { state: "online" } : { report_type: "heartbeat", payload: {} };
    await client.say(kind, await pi.say(kind, fields));
  };
  await said("presence");
  const frame = await home.next("agent", ({ agent }) => agent.conditions !== undefined);
  expect(frame.agent).toMatchObject({
    online: false,
    conditions: [{ code: "old_numbers", params: { run: pi.bootId, until: "2038-01-19T00:00Z" } }],
  });
  // What the gateway says to it then goes out, although it counts as offline; nothing else does.
  home.send({ t: "publish", agent: "pi", payload: '{"command":"gateway","payload":{},"request_id":"r"}' });
  await until(() => client.commands.length > 0, { what: "the notice" });
  const payload = JSON.stringify({ command: "ping", payload: {}, request_id: "c" });
  home.send({ t: "call", id: "c", agent: "pi", payload, expires_in_ms: 5_000 });
  expect(await home.next("refused")).toMatchObject({ code: "agent_offline" });
  pi.n = Date.UTC(2038, 0, 19) * 1_024 + 1;
  const before = home.frames.length;
  await said("presence");
  const now = await home.next("agent", (next) => home.frames.indexOf(next) >= before && next.agent.online);
  expect(now.agent).not.toHaveProperty("conditions");
  // A recording that is played while it is there is no news.
  pi.n = 2_000;
  await said("reports");
  pi.n = Date.UTC(2038, 0, 19) * 1_024 + 10;
  await said("presence");
  expect(home.frames.slice(before).filter(({ t }) => t === "agent")).toHaveLength(1);
  await client.stop();
});

test("O1: a broker that goes away is told of with its reason, and that it is back", async () => {
  await stopBroker();
  const told = await home.next("conditions");
  expect(told.all).toMatchObject([{ code: "broker_unreachable", params: { url } }]);
  expect(told.all.map((one) => describeCondition(one).text)[0]).toMatch(/ECONNREFUSED/);
});

test("O1: another client with the bridge's id is recognised by the pattern, at a broker that says nothing", async () => {
  const up = () => logged.filter(({ event }) => event === "broker.up").length;
  const others: MqttClient[] = [];
  await until(
    () => {
      // Another one takes the id whenever the bridge has it, as a second bridge of version 0.3 did.
      const id = Object.keys(clients()).find((name) => name.startsWith("edgecall-bridge-")) ?? "";
      if (others.length < up()) others.push(connect(url, { clientId: id, reconnectPeriod: 0 }));
      return home.of("conditions").some(({ all }) => all.some(({ code }) => code === "broker_cuts"));
    },
    { within: 15_000, what: "the bridge says what happens" },
  );
  for (const client of others) await client.endAsync(true);
  expect(logged.map(({ event }) => event)).toContain("broker.cuts");
});

test("O1: two bridges with one BRIDGE_ID have ids of their own at the broker", async () => {
  const second = new PlayedHome();
  const env = { GATEWAY_URL: await second.start(), BRIDGE_TOKEN: "secret", MQTT_URL: url, HEALTH_PORT: "0" };
  const read = readSettings(env);
  if (!read.ok) throw new Error(read.errors.join("; "));
  const other = startBridge(read.settings, () => {});
  await second.next("snapshot");
  await until(() => other.ready());
  // A round trip at the broker: all that it ends has ended by then.
  const client = await PlayedAgent.own("eye", url);
  await second.next("agent", ({ agent }) => agent.id === "eye" && agent.online);
  await home.next("agent", ({ agent }) => agent.id === "eye" && agent.online);
  expect(bridge.ready()).toBe(true);
  expect(logged.filter(({ event }) => event === "broker.down")).toEqual([]);
  await client.stop();
  await other.stop();
  await second.stop();
});
