/** The bridge between a real broker (aedes, MQTT 3.1.1) and a real WebSocket server that plays Home. */
import { randomUUID } from "node:crypto";
import { CLOSE } from "@edgecall/core/protocol/frames.ts";
import { describe, expect, test } from "vitest";
import { until } from "../test/wait.ts";
import { BROKER_GRACE_MS } from "./broker/presence.ts";
import { STANDBY_EVERY_MS, STAY_AWAY_MS } from "./gateway/gateway.ts";
import { usePlayed } from "./testkit/played.ts";

const played = usePlayed();

describe("the agents' state", () => {
  test("hello, then a snapshot of the retained messages, then changes", async () => {
    const pi = await played.agent("pi");
    await pi.say("tools", { hash: "h", tools: [{ name: "uptime" }] }, true);
    await played.started();
    expect(played.home.frames.map((frame) => frame.t)).toEqual(["hello", "snapshot"]);
    const [snapshot] = played.home.of("snapshot");
    expect(snapshot?.agents).toMatchObject([{ id: "pi", online: true, foreign: false, last_seen: null }]);
    expect(JSON.parse(snapshot?.agents[0]?.tools ?? "")).toMatchObject({ hash: "h" });
    pi.kill();
    const change = await played.home.next("agent");
    expect(change.agent).toMatchObject({ id: "pi", online: false, reason: "last will" });
  });

  test("an empty snapshot when there is no agent; a later agent is a change, and one that leaves is removed", async () => {
    await played.started();
    expect(played.home.of("snapshot")).toEqual([{ t: "snapshot", agents: [], last: true }]);
    const pi = await played.agent("pi");
    await played.home.next("agent", (frame) => frame.agent.online);
    await pi.say("capabilities", "", true);
    expect(await played.home.next("gone")).toEqual({ t: "gone", agent: "pi" });
  });

  test("birth and advert are sent as one change, and heartbeats are not sent", async () => {
    await played.started();
    const pi = await played.agent("pi");
    const claw = await played.agent("claw", "foreign");
    await played.home.next("agent", (frame) => frame.agent.id === "pi" && frame.agent.online);
    await played.home.next("agent", (frame) => frame.agent.id === "claw" && frame.agent.online);
    const before = played.home.of("agent").length;
    for (let i = 0; i < 10; i++) await Promise.all([pi.heartbeat(), claw.heartbeat()]);
    // Messages that are published after the heartbeats arrive after them.
    await pi.say("events", { type: "progress", request_id: "r1", text: "half" });
    await played.home.next("event");
    expect(played.home.of("agent")).toHaveLength(before);
  });

  test("a foreign agent's heartbeat on the topic `status` is a sign of life", async () => {
    const claw = await played.agent("claw", "foreign");
    await played.started();
    expect(played.home.of("snapshot")[0]?.agents).toMatchObject([{ id: "claw", online: false }]);
    await claw.say("status", { agent_id: "claw", status: "idle", timestamp: 1 });
    const change = await played.home.next("agent", (frame) => frame.agent.online);
    expect(change.agent).toMatchObject({
      id: "claw",
      capabilities: expect.stringContaining("claw measures"),
    });
  });

  test("a retained report is neither a sign of life nor a result", async () => {
    const claw = await played.agent("claw", "foreign");
    const report = { report_type: "result", payload: { request_id: randomUUID() } };
    await claw.say("reports", report, true);
    await played.started();
    await until(() => played.log("broker.message_dropped"));
    expect(played.home.of("snapshot")[0]?.agents).toMatchObject([
      { id: "claw", online: false, last_seen: null },
    ]);
    expect(played.home.of("report")).toEqual([]);
  });

  test("invalid ids and payloads are dropped, and the log names topic and field", async () => {
    await played.started();
    const pi = await played.agent("pi");
    await pi.client.publishAsync("evoclaw/agents/no spaces/capabilities", '{"capabilities":"x"}');
    await pi.say("capabilities", { capabilities: 7 });
    await pi.say("events", { type: "progress", request_id: "r1" });
    await played.home.next("event");
    const dropped = played.logged
      .filter((line) => line.event === "broker.message_dropped")
      .map((line) => line.fields);
    expect(dropped).toMatchObject([
      { topic: "evoclaw/agents/no spaces/capabilities" },
      { topic: "evoclaw/agents/pi/capabilities", error: expect.stringContaining("capabilities: ") },
    ]);
  });
});

describe("calls", () => {
  test("call, taken, report, ack", async () => {
    const pi = await played.agent("pi");
    await played.started();
    const id = played.call("pi");
    await played.home.next("taken", (frame) => frame.id === id);
    await until(() => pi.commands.length > 0);
    expect(pi.commands).toEqual([{ command: "tool", payload: { tool: "uptime" }, request_id: id }]);
    await pi.say("events", { type: "accepted", request_id: id });
    await pi.report("result", { status: "success", result: "up é", request_id: id });
    expect(await played.home.next("event")).toMatchObject({ id, agent: "pi" });
    const report = await played.home.next("report");
    expect(report).toMatchObject({ id, agent: "pi" });
    expect(JSON.parse(report.payload)).toMatchObject({ payload: { result: "up é" } });
    const ack = JSON.stringify({ command: "ack", payload: { request_id: id }, request_id: randomUUID() });
    played.home.send({ t: "ack", id, agent: "pi", payload: ack });
    await until(() => pi.commands.length > 1);
    expect(pi.commands[1]).toEqual(JSON.parse(ack));
  });

  test("calls to unknown or offline agents, without time, or with invalid content are refused", async () => {
    const pi = await played.agent("pi");
    await played.started();
    const cases = [
      [played.call("nobody"), "agent_offline"],
      [played.call("pi", randomUUID(), 0), "expired"],
    ];
    const invalid = randomUUID();
    played.home.send({ t: "call", id: invalid, agent: "pi", payload: "{", expires_in_ms: 5_000 });
    played.home.sendText(JSON.stringify({ t: "call", id: "bare", agent: "a/b" }));
    for (const [id, code] of [...cases, [invalid, "invalid"], ["bare", "invalid"]]) {
      expect(await played.home.next("refused", (frame) => frame.id === id)).toMatchObject({ code });
    }
    pi.kill();
    await played.home.next("agent", (frame) => !frame.agent.online);
    const late = played.call("pi");
    expect(await played.home.next("refused", (frame) => frame.id === late)).toMatchObject({
      code: "agent_offline",
      message: "pi is not online: last will",
    });
    expect(pi.commands).toEqual([]);
  });

  test("a foreign agent's answer without request_id belongs to its open call", async () => {
    const claw = await played.agent("claw", "foreign");
    await claw.heartbeat();
    await played.started();
    await claw.heartbeat();
    await played.home.next("agent", (frame) => frame.agent.id === "claw" && frame.agent.online);
    const id = played.call("claw");
    await played.home.next("taken", (frame) => frame.id === id);
    await claw.report("result", { status: "executed" });
    expect(await played.home.next("report")).toMatchObject({ id, agent: "claw" });
  });

  test("without the broker: calls are refused at once, and all agents are offline after a grace period", async () => {
    await played.agent("pi");
    await played.started();
    await played.broker.stop();
    await until(() => played.log("broker.down"));
    const id = played.call("pi");
    expect(await played.home.next("refused", (frame) => frame.id === id)).toMatchObject({
      code: "broker_offline",
    });
    const offline = await until(() => played.home.of("agent")[0], { within: 3 * BROKER_GRACE_MS });
    expect(offline.agent).toMatchObject({ online: false, reason: "the broker is not reachable" });
  }, 15_000);
});

describe("the socket", () => {
  test("when it is lost: the bridge reconnects, sends a new snapshot, and every unacknowledged report", async () => {
    const pi = await played.agent("pi");
    await played.started();
    await pi.report("result", { status: "success", request_id: "acked" });
    await pi.report("result", { status: "success", request_id: "kept" });
    await played.home.next("report", (frame) => frame.id === "kept");
    played.home.send({ t: "ack", id: "acked", agent: "pi" });
    played.home.send({ t: "call", id: "marker", agent: "nobody", payload: "{}", expires_in_ms: 1 });
    await played.home.next("refused");
    played.home.drop();
    await until(() => played.home.closes.length === 1);
    // Published while the connection to Home is down.
    await pi.report("error", { error: "broken", request_id: "meanwhile" });
    const question = { question_id: "q1", text: "Which one?", expires_in_ms: 60_000 };
    await pi.say("events", { type: "question", request_id: "q", ...question });
    await until(() => played.home.connections === 2);
    await played.home.next("event", (frame) => frame.id === "q");
    await until(() => played.home.of("report").length >= 4);
    const reports = played.home.of("report").map((frame) => frame.id);
    expect(reports).toEqual(["acked", "kept", "kept", "meanwhile"]);
    const order = played.home.frames.map((frame) => frame.t);
    expect(order.lastIndexOf("snapshot")).toBeLessThan(order.lastIndexOf("report"));
  });

  test("an unknown frame from Home is ignored", async () => {
    await played.agent("pi");
    const bridge = await played.started();
    const rubbish = [
      "",
      "{",
      "null",
      "[]",
      '{"t":"dance"}',
      '{"t":"ack"}',
      '{"t":"welcome"}',
      Buffer.from([1]),
    ];
    for (const text of rubbish) played.home.sendText(text);
    const id = played.call("pi");
    await played.home.next("taken", (frame) => frame.id === id);
    expect(bridge.ready()).toBe(true);
    expect(played.logged.some((line) => line.fields?.frame === "dance")).toBe(true);
  });

  test("replaced by a newer bridge, it does not reconnect", async () => {
    await played.started();
    played.home.drop(CLOSE.replaced);
    await until(() => played.log("gateway.down"));
    expect(played.log("gateway.down")?.fields).toMatchObject({
      code: CLOSE.replaced,
      retry_in_ms: STAY_AWAY_MS,
    });
  });

  test("G12 when replaced, it asks for its place, displaces no bridge, and soon has the place back", async () => {
    played.home.standby = true;
    const bridge = await played.started();
    played.home.isTaken = true;
    played.home.drop(CLOSE.replaced);
    await until(() => played.home.asked > 0, { within: 2 * STANDBY_EVERY_MS });
    expect(played.home.connections).toBe(1);
    expect(played.log("gateway.standby")).toBeDefined();
    played.home.isTaken = false;
    await until(() => bridge.ready(), { within: 3 * STANDBY_EVERY_MS });
    expect(played.home.connections).toBe(2);
    // Longer than both waits together.
  }, 40_000);

  test("D7 a restarted gateway finds a foreign agent online if the bridge heard from it shortly before", async () => {
    const claw = await played.agent("claw", "foreign");
    await played.started();
    await claw.heartbeat();
    await played.home.next("agent", ({ agent }) => agent.online);
    played.home.frames.length = 0;
    played.home.drop();
    const { agents } = await played.home.next("snapshot");
    expect(agents).toMatchObject([{ id: "claw", online: true }]);
  });

  test("G12 a foreign agent that was there before the bridge gets a ping at once", async () => {
    const claw = await played.agent("claw", "foreign");
    await played.started();
    await until(() => claw.commands.length > 0);
    expect(claw.commands[0]).toMatchObject({ command: "ping" });
    await claw.report("result", { pong: true });
    await played.home.next("agent", ({ agent }) => agent.id === "claw" && agent.online);
  });

  test("a refused token is not retried quickly", async () => {
    const bridge = played.start({ bridgeToken: "wrong" });
    await until(() => played.log("gateway.refuses"));
    expect(played.log("gateway.refuses")?.fields).toMatchObject({ status: 401, retry_in_ms: STAY_AWAY_MS });
    expect(bridge.ready()).toBe(false);
  });

  test("a gateway with errors is soon retried", async () => {
    played.home.refuseWith = 503;
    played.start();
    await until(() => played.log("gateway.down"));
    played.home.refuseWith = undefined;
    await played.home.next("snapshot");
  });

  test("a gateway with another protocol version is not retried", async () => {
    played.home.protocol = 99;
    played.start();
    await until(() => played.log("gateway.down"));
    expect(played.log("gateway.down")?.fields).toMatchObject({
      code: CLOSE.badProtocol,
      retry_in_ms: STAY_AWAY_MS,
    });
  });
});
