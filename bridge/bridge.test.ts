/** The bridge between a real broker (aedes, MQTT 3.1.1) and a real WebSocket server that plays Home. */
import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { CLOSE } from "@edgecall/core/protocol/frames.ts";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { hasPromtool, promtoolSays } from "../core/testkit/prometheus.ts";
import { sampleOf } from "../test/sample-of.ts";
import { until } from "../test/wait.ts";
import { STAY_AWAY_MS } from "./backoff.ts";
import { type Bridge, startBridge } from "./bridge.ts";
import type { LogFields } from "./log.ts";
import { BROKER_GRACE_MS } from "./presence.ts";
import { type BridgeSettings, readSettings } from "./settings.ts";
import { PlayedAgent } from "./testkit/agent.ts";
import { type PlayedBroker, startAedes } from "./testkit/brokers.ts";
import { PlayedHome } from "./testkit/home.ts";

let broker: PlayedBroker;
let home: PlayedHome;
let gateway: string;
let logged: { event: string; fields: LogFields | undefined }[];
let cleanup: (() => unknown)[];

beforeEach(async () => {
  cleanup = [];
  logged = [];
  home = new PlayedHome();
  [broker, gateway] = await Promise.all([startAedes(), home.start()]);
});

afterEach(async () => {
  for (const end of cleanup.reverse()) await end();
  await home.stop();
  await broker.stop();
});

function settings(over: Record<string, string> = {}): BridgeSettings {
  const env = {
    GATEWAY_URL: gateway,
    BRIDGE_TOKEN: "secret",
    MQTT_URL: broker.url,
    HEALTH_PORT: "0",
    ...over,
  };
  const result = readSettings(env);
  if (!result.ok) throw new Error(result.errors.join("; "));
  return result.settings;
}

function start(over: Partial<BridgeSettings> = {}): Bridge {
  const bridge = startBridge({ ...settings(), ...over }, (_, event, fields) =>
    logged.push({ event, fields }),
  );
  cleanup.push(() => bridge.stop());
  return bridge;
}

async function started(): Promise<Bridge> {
  const bridge = start();
  await home.next("snapshot", (frame) => frame.last);
  await until(() => bridge.ready());
  return bridge;
}

async function agent(id: string, kind: "own" | "foreign" = "own"): Promise<PlayedAgent> {
  const played = await PlayedAgent[kind](id, broker.url);
  cleanup.push(() => played.stop());
  return played;
}

function call(to: string, id: string = randomUUID(), expires_in_ms = 5_000): string {
  const payload = JSON.stringify({ command: "tool", payload: { tool: "uptime" }, request_id: id });
  home.send({ t: "call", id, agent: to, payload, expires_in_ms });
  return id;
}

const log = (event: string) => logged.find((line) => line.event === event);

describe("the roster", () => {
  test("hello, then a snapshot of what is retained, then changes", async () => {
    const pi = await agent("pi");
    await pi.say("tools", { hash: "h", tools: [{ name: "uptime" }] }, true);
    await started();
    expect(home.frames.map((frame) => frame.t)).toEqual(["hello", "snapshot"]);
    const [snapshot] = home.of("snapshot");
    expect(snapshot?.agents).toMatchObject([{ id: "pi", online: true, foreign: false, last_seen: null }]);
    expect(JSON.parse(snapshot?.agents[0]?.tools ?? "")).toMatchObject({ hash: "h" });
    pi.kill();
    const change = await home.next("agent");
    expect(change.agent).toMatchObject({ id: "pi", online: false, reason: "last will" });
  });

  test("an empty snapshot when nobody is there; who comes later is a change, who goes is gone", async () => {
    await started();
    expect(home.of("snapshot")).toEqual([{ t: "snapshot", agents: [], last: true }]);
    const pi = await agent("pi");
    await home.next("agent", (frame) => frame.agent.online);
    await pi.say("capabilities", "", true);
    expect(await home.next("gone")).toEqual({ t: "gone", agent: "pi" });
  });

  test("birth and advert go out as one change, and heartbeats not at all", async () => {
    await started();
    const pi = await agent("pi");
    const claw = await agent("claw", "foreign");
    await home.next("agent", (frame) => frame.agent.id === "pi" && frame.agent.online);
    await home.next("agent", (frame) => frame.agent.id === "claw" && frame.agent.online);
    const before = home.of("agent").length;
    for (let i = 0; i < 10; i++) await Promise.all([pi.heartbeat(), claw.heartbeat()]);
    // What is published after the heartbeats arrives after them.
    await pi.say("events", { type: "progress", request_id: "r1", text: "half" });
    await home.next("event");
    expect(home.of("agent")).toHaveLength(before);
  });

  test("a retained report is neither a sign of life nor a result", async () => {
    const claw = await agent("claw", "foreign");
    const report = { report_type: "result", payload: { request_id: randomUUID() } };
    await claw.say("reports", report, true);
    await started();
    await until(() => log("message_dropped"));
    expect(home.of("snapshot")[0]?.agents).toMatchObject([{ id: "claw", online: false, last_seen: null }]);
    expect(home.of("report")).toEqual([]);
  });

  test("ids and payloads that do not fit are dropped, and the log names topic and field", async () => {
    await started();
    const pi = await agent("pi");
    await pi.client.publishAsync("evoclaw/agents/no spaces/capabilities", '{"capabilities":"x"}');
    await pi.say("capabilities", { capabilities: 7 });
    await pi.say("events", { type: "progress", request_id: "r1" });
    await home.next("event");
    const dropped = logged.filter((line) => line.event === "message_dropped").map((line) => line.fields);
    expect(dropped).toMatchObject([
      { topic: "evoclaw/agents/no spaces/capabilities" },
      { topic: "evoclaw/agents/pi/capabilities", error: expect.stringContaining("capabilities: ") },
    ]);
  });
});

describe("calls", () => {
  test("call, taken, report, ack", async () => {
    const pi = await agent("pi");
    await started();
    const id = call("pi");
    await home.next("taken", (frame) => frame.id === id);
    await until(() => pi.commands.length > 0);
    expect(pi.commands).toEqual([{ command: "tool", payload: { tool: "uptime" }, request_id: id }]);
    await pi.say("events", { type: "accepted", request_id: id });
    await pi.report("result", { status: "success", result: "up é", request_id: id });
    expect(await home.next("event")).toMatchObject({ id, agent: "pi" });
    const report = await home.next("report");
    expect(report).toMatchObject({ id, agent: "pi" });
    expect(JSON.parse(report.payload)).toMatchObject({ payload: { result: "up é" } });
    const ack = JSON.stringify({ command: "ack", payload: { request_id: id }, request_id: randomUUID() });
    home.send({ t: "ack", id, agent: "pi", payload: ack });
    await until(() => pi.commands.length > 1);
    expect(pi.commands[1]).toEqual(JSON.parse(ack));
  });

  test("to nobody, to the dead, without time, and without sense are refused", async () => {
    const pi = await agent("pi");
    await started();
    const cases = [
      [call("nobody"), "agent_offline"],
      [call("pi", randomUUID(), 0), "expired"],
    ];
    const invalid = randomUUID();
    home.send({ t: "call", id: invalid, agent: "pi", payload: "{", expires_in_ms: 5_000 });
    home.sendText(JSON.stringify({ t: "call", id: "bare", agent: "a/b" }));
    for (const [id, code] of [...cases, [invalid, "invalid"], ["bare", "invalid"]]) {
      expect(await home.next("refused", (frame) => frame.id === id)).toMatchObject({ code });
    }
    pi.kill();
    await home.next("agent", (frame) => !frame.agent.online);
    const late = call("pi");
    expect(await home.next("refused", (frame) => frame.id === late)).toMatchObject({
      code: "agent_offline",
      message: "pi is not online: last will",
    });
    expect(pi.commands).toEqual([]);
  });

  test("a foreign agent's answer without request_id is its open call's", async () => {
    const claw = await agent("claw", "foreign");
    await claw.heartbeat();
    await started();
    await claw.heartbeat();
    await home.next("agent", (frame) => frame.agent.id === "claw" && frame.agent.online);
    const id = call("claw");
    await home.next("taken", (frame) => frame.id === id);
    await claw.report("result", { status: "executed" });
    expect(await home.next("report")).toMatchObject({ id, agent: "claw" });
  });

  test("the broker gone: refused at once, and everybody offline after a grace", async () => {
    await agent("pi");
    await started();
    await broker.stop();
    await until(() => log("broker_down"));
    const id = call("pi");
    expect(await home.next("refused", (frame) => frame.id === id)).toMatchObject({ code: "broker_offline" });
    const offline = await until(() => home.of("agent")[0], { within: 3 * BROKER_GRACE_MS });
    expect(offline.agent).toMatchObject({ online: false, reason: "the broker is not reachable" });
  }, 15_000);
});

describe("the socket", () => {
  test("lost: dialled again, a new snapshot, and every report that is not acked", async () => {
    const pi = await agent("pi");
    await started();
    await pi.report("result", { status: "success", request_id: "acked" });
    await pi.report("result", { status: "success", request_id: "kept" });
    await home.next("report", (frame) => frame.id === "kept");
    home.send({ t: "ack", id: "acked", agent: "pi" });
    home.send({ t: "call", id: "marker", agent: "nobody", payload: "{}", expires_in_ms: 1 });
    await home.next("refused");
    home.drop();
    await until(() => home.connections === 1 && home.closes.length === 1);
    // Published while Home is away.
    await pi.report("error", { error: "broken", request_id: "meanwhile" });
    const question = { question_id: "q1", text: "Which one?", expires_in_ms: 60_000 };
    await pi.say("events", { type: "question", request_id: "q", ...question });
    await until(() => home.connections === 2);
    await home.next("event", (frame) => frame.id === "q");
    await until(() => home.of("report").length >= 4);
    const reports = home.of("report").map((frame) => frame.id);
    expect(reports).toEqual(["acked", "kept", "kept", "meanwhile"]);
    const order = home.frames.map((frame) => frame.t);
    expect(order.lastIndexOf("snapshot")).toBeLessThan(order.lastIndexOf("report"));
  });

  test("what Home sends that is no frame of ours is ignored", async () => {
    await agent("pi");
    const bridge = await started();
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
    for (const text of rubbish) home.sendText(text);
    const id = call("pi");
    await home.next("taken", (frame) => frame.id === id);
    expect(bridge.ready()).toBe(true);
    expect(logged.some((line) => line.fields?.frame === "dance")).toBe(true);
  });

  test("replaced by a newer bridge it stays away", async () => {
    await started();
    home.drop(CLOSE.replaced);
    await until(() => log("gateway_down"));
    expect(log("gateway_down")?.fields).toMatchObject({ code: CLOSE.replaced, retry_in_ms: STAY_AWAY_MS });
  });

  test("a refused token is no reason to hammer", async () => {
    const bridge = start({ bridgeToken: "wrong" });
    await until(() => log("gateway_refuses"));
    expect(log("gateway_refuses")?.fields).toMatchObject({ status: 401, retry_in_ms: STAY_AWAY_MS });
    expect(bridge.ready()).toBe(false);
  });

  test("a gateway in trouble is tried again soon", async () => {
    home.refuseWith = 503;
    start();
    await until(() => log("gateway_down"));
    home.refuseWith = undefined;
    await home.next("snapshot");
  });

  test("a gateway of another protocol is left alone", async () => {
    home.protocol = 99;
    start();
    await until(() => log("gateway_down"));
    expect(log("gateway_down")?.fields).toMatchObject({ code: CLOSE.badProtocol, retry_in_ms: STAY_AWAY_MS });
  });
});

describe("health", () => {
  test("ready only when both sides are, and it says which is not", async () => {
    home.refuseWith = 503;
    const taken = start({ healthPort: await freeHealthPort() });
    const port = await until(() => taken.healthPort());
    const get = (path: string) => fetch(`http://127.0.0.1:${port}${path}`);
    const ready = await until(async () => {
      const body = await (await get("/readyz")).text();
      return body.includes('"connected"') && body;
    });
    expect(JSON.parse(ready)).toEqual({
      ready: false,
      gateway: "offline",
      broker: "connected",
      problem: "the gateway refuses: HTTP 503",
    });
    expect((await get("/readyz")).status).toBe(503);
    expect((await get("/healthz")).status).toBe(200);
    home.refuseWith = undefined;
    await until(() => taken.ready());
    expect((await get("/readyz")).status).toBe(200);
    expect((await get("/else")).status).toBe(404);
  });
});

describe("/metrics", () => {
  test("what came and went, by agent and reason; promtool takes it", async () => {
    const bridge = start({ healthPort: await freeHealthPort() });
    await home.next("snapshot", (frame) => frame.last);
    await until(() => bridge.ready());
    const pi = await agent("pi");
    await home.next("agent", (frame) => frame.agent.id === "pi" && frame.agent.online);
    const call = (to: string) => {
      const id = randomUUID();
      const payload = JSON.stringify({ command: "tool", payload: {}, request_id: id });
      home.send({ t: "call", id, agent: to, payload, expires_in_ms: 5_000 });
      return id;
    };
    const answered = call("pi");
    await until(() => pi.commands.some(({ request_id }) => request_id === answered));
    const scrape = async () => await (await fetch(`http://127.0.0.1:${bridge.healthPort()}/metrics`)).text();
    expect(sampleOf(await scrape(), 'edgecall_bridge_queue_length{queue="calls"}')).toBe(1);
    await pi.report("result", { status: "success", request_id: answered });
    await home.next("report", (frame) => frame.id === answered);
    const refused = call("nobody");
    await home.next("refused", (frame) => frame.id === refused);
    home.drop();
    await until(() => log("gateway_down"));
    await until(() => bridge.ready());
    const page = await scrape();
    const values = {
      edgecall_bridge_gateway_up: 1,
      'edgecall_bridge_connections_total{side="gateway"}': 2,
      'edgecall_bridge_connections_total{side="broker"}': 1,
      'edgecall_bridge_agent_online{agent="pi",kind="own"}': 1,
      'edgecall_bridge_calls_total{agent="pi"}': 1,
      'edgecall_bridge_calls_refused_total{reason="agent_offline"}': 1,
      'edgecall_bridge_call_duration_seconds_count{agent="pi"}': 1,
      'edgecall_bridge_queue_length{queue="reports"}': 1,
    };
    for (const [left, value] of Object.entries(values))
      expect([left, sampleOf(page, left)]).toEqual([left, value]);
    expect(sampleOf(page, 'edgecall_bridge_messages_total{kind="reports"}')).toBeGreaterThan(0);
    // By its id a call can be followed through the log.
    expect(log("call")?.fields).toMatchObject({ id: answered, agent: "pi" });
    expect(log("call_answered")?.fields).toMatchObject({ id: answered, agent: "pi" });
    if (hasPromtool) expect(promtoolSays(page)).toBe("");
  });
});

async function freeHealthPort(): Promise<number> {
  const other = new PlayedHome();
  const url = await other.start();
  await other.stop();
  return Number(new URL(url).port);
}

describe("the program", () => {
  const main = fileURLToPath(new URL("main.ts", import.meta.url));
  const run = (env: Record<string, string>) => {
    const child = spawn(process.execPath, [main], {
      env: { PATH: process.env.PATH, HEALTH_PORT: "0", ...env },
      stdio: ["ignore", "ignore", "pipe", "ipc"],
    });
    let stderr = "";
    child.stderr?.on("data", (chunk) => {
      stderr += chunk;
    });
    cleanup.push(() => child.kill("SIGKILL"));
    return { child, stderr: () => stderr };
  };
  const wired = () => ({ GATEWAY_URL: gateway, BRIDGE_TOKEN: "secret", MQTT_URL: broker.url });

  test("SIGTERM: says goodbye and exits 0", async () => {
    const { child, stderr } = run(wired());
    const [message] = await once(child, "message");
    expect(message).toEqual({ ready: true });
    child.kill("SIGTERM");
    const [code] = await once(child, "exit");
    expect(code).toBe(0);
    await until(() => home.closes.length > 0);
    expect(home.closes).toEqual([1001]);
    const lines = stderr().trim().split("\n");
    for (const line of lines) expect(JSON.parse(line)).toMatchObject({ program: "bridge" });
    expect(stderr()).not.toContain("secret");
  });

  test("ends with the stack that started it", async () => {
    const { child } = run(wired());
    await once(child, "message");
    child.disconnect();
    const [code] = await once(child, "exit");
    expect(code).toBe(0);
  });

  test("what is missing is named, and it exits 2", async () => {
    const { child, stderr } = run({ MQTT_URL: "nonsense" });
    const [code] = await once(child, "exit");
    expect(code).toBe(2);
    for (const name of ["GATEWAY_URL", "BRIDGE_TOKEN", "MQTT_URL"]) expect(stderr()).toContain(`${name}: `);
  });
});
