/** Tests that need a broker with MQTT 5, retained messages on disk and a real restart. */
import { randomUUID } from "node:crypto";
import type { LogFields } from "@edgecall/node/log.ts";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { until } from "../../test/wait.ts";
import { type Bridge, startBridge } from "../bridge.ts";
import { readSettings } from "../settings.ts";
import { PlayedAgent } from "../testkit/agent.ts";
import { findMosquitto, PlayedMosquitto } from "../testkit/brokers.ts";
import { PlayedHome } from "../testkit/home.ts";
import { BrokerLink } from "./broker.ts";

const program = findMosquitto();

describe("with Mosquitto (apt-get install mosquitto)", { tags: ["needs/mosquitto"] }, () => {
  let broker: PlayedMosquitto;
  let home: PlayedHome;
  let bridge: Bridge;
  let logged: { event: string; fields: LogFields | undefined }[];
  let cleanup: (() => unknown)[];

  beforeEach(async () => {
    cleanup = [];
    logged = [];
    home = new PlayedHome();
    broker = await PlayedMosquitto.start(program ?? "");
    const env = {
      GATEWAY_URL: await home.start(),
      BRIDGE_TOKEN: "secret",
      MQTT_URL: broker.url,
      HEALTH_PORT: "0",
    };
    const result = readSettings(env);
    if (!result.ok) throw new Error(result.errors.join("; "));
    bridge = startBridge(result.settings, (_, event, fields) => logged.push({ event, fields }));
    await home.next("snapshot");
    await until(() => bridge.ready());
  });

  afterEach(async () => {
    for (const end of cleanup.reverse()) await end();
    await bridge.stop();
    await home.stop();
    await broker.stop();
  });

  async function agent(id: string, kind: "own" | "foreign", deaf = false): Promise<PlayedAgent> {
    const played =
      kind === "own"
        ? await PlayedAgent.own(id, broker.url)
        : await PlayedAgent.foreign(id, broker.url, { deaf });
    cleanup.push(() => played.stop());
    await home.next("agent", (frame) => frame.agent.id === id && frame.agent.online);
    return played;
  }

  function call(to: string): string {
    const id = randomUUID();
    const payload = JSON.stringify({ command: "tool", payload: {}, request_id: id });
    home.send({ t: "call", id, agent: to, payload, expires_in_ms: 5_000 });
    return id;
  }

  test("it speaks MQTT 5", () => {
    expect(logged).toContainEqual({ event: "broker.up", fields: { mqtt: 5 } });
  });

  test("a deaf agent is detected at once, and is offline from then on", async () => {
    await agent("deaf", "foreign", true);
    await agent("pi", "own");
    // Its advert may have been told alone, with the reason that no heartbeat came yet.
    const before = home.frames.length;
    const ids = [call("deaf"), call("pi")];
    await home.next("taken", (frame) => frame.id === ids[1]);
    expect(await home.next("refused", (frame) => frame.id === ids[0])).toMatchObject({
      code: "not_listening",
    });
    const change = await home.next(
      "agent",
      (frame) => home.frames.indexOf(frame) >= before && frame.agent.id === "deaf" && !frame.agent.online,
    );
    expect(change.agent.reason).toMatch(/nobody listens to its commands/);
  });

  test("a thousand publishes at once each get their own answer", async () => {
    const pi = await agent("pi", "own");
    const link = new BrokerLink({
      url: broker.url,
      username: undefined,
      password: undefined,
      ca: undefined,
      clientId: "counter",
      topics: ["nothing/here"],
      log: () => {},
      onMessage: () => {},
      onConnect: () => {},
      onUp: () => {},
      onDown: () => {},
    });
    link.start();
    cleanup.push(() => link.stop());
    await until(() => link.up);
    const topics = Array.from({ length: 1_000 }, (_, i) => (i % 3 === 0 ? "pi" : "nobody"));
    const results = await Promise.all(
      topics.map((id, n) => link.publish(`evoclaw/agents/${id}/commands`, JSON.stringify({ n }), 5_000)),
    );
    expect(results).toEqual(topics.map((id) => ({ kind: "delivered", listening: id === "pi" })));
    await until(() => pi.commands.length === 334);
  });

  test("after a restart everything continues, and agents that did not return are offline", async () => {
    const pi = await agent("pi", "own");
    const gone = await agent("gone", "own");
    gone.client.options.reconnectPeriod = 0;
    pi.client.on("connect", () => {
      // Our agent does this on every connect.
      void pi.client.subscribeAsync("evoclaw/agents/pi/commands", { qos: 1 });
      void pi.say("presence", { state: "online", boot_id: "b1" }, true);
    });
    await broker.stop();
    await until(() => logged.some((line) => line.event === "broker.down"));
    await broker.begin();
    await until(() => bridge.ready(), { within: 15_000 });
    const offline = await until(
      () => home.of("agent").find((f) => f.agent.id === "gone" && !f.agent.online),
      {
        within: 15_000,
      },
    );
    expect(offline.agent.reason).toBeDefined();
    await until(() => home.of("agent").findLast((frame) => frame.agent.id === "pi")?.agent.online, {
      within: 15_000,
    });
    const id = call("pi");
    await home.next("taken", (frame) => frame.id === id);
    await until(() => pi.commands.some((command) => command.request_id === id));
  }, 40_000);
});
