/**
 * A home with its own broker, in which no person copies a secret. One code makes the first machine bridge and agent;
 * each later machine becomes an agent with its own login. Over a real Mosquitto: what each may publish and read, and
 * what revoking does.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { appendFileSync, type FSWatcher, mkdtempSync, readFileSync, rmSync, statSync, watch } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { TOPIC_KINDS } from "@edgecall/core/protocol/names.ts";
import { newKeyPair } from "@edgecall/core/protocol/signing.ts";
import { connectAsync, type MqttClient } from "mqtt";
import { parse as parseToml } from "smol-toml";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { WebSocket } from "ws";
import { readOwnKey } from "../../bridge/gateway/own-key.ts";
import { writeBrokerFiles } from "../../bridge/ops/broker-files.ts";
import { findMosquitto } from "../../bridge/testkit/brokers.ts";
import { freePort } from "../../local/port.ts";
import { SignedBridge } from "../signed-bridge.ts";
import { testVars } from "../tokens.ts";
import { until } from "../wait.ts";
import { edgecall } from "./command.ts";
import { GatewayClient } from "./gateway-client.ts";
import { Program } from "./program.ts";

const mosquitto = findMosquitto();
const folder = mkdtempSync(join(tmpdir(), "edgecall-own-broker-"));
const brokerFiles = join(folder, "broker");
const bridgeState = join(folder, "bridge");
const RELOAD_AFTER_MS = 200;
/** The machine may be loaded. */
const WITHIN_MS = 60_000;

describe("a home with its own broker", { tags: ["needs/mosquitto"], timeout: 3 * WITHIN_MS }, () => {
  const programs: Program[] = [];
  const clients: MqttClient[] = [];
  let gateway: GatewayClient;
  let broker: ChildProcess | undefined;
  let reloading: FSWatcher | undefined;
  let url: string;
  let bridge: Program;

  function run(program: Program): Program {
    programs.push(program);
    return program;
  }
  const startBridge = () =>
    run(
      new Program({
        name: "bridge",
        script: "bridge/main.ts",
        env: { BRIDGE_STATE: bridgeState, BROKER_FILES: brokerFiles, MQTT_URL: url, HEALTH_PORT: "0" },
      }),
    );
  const startAgent = (id: string) =>
    run(
      new Program({
        name: id,
        script: "pi-agent/main.ts",
        args: ["--config", join(folder, id, "agent.toml")],
      }),
    );

  async function newCode(body: object = {}): Promise<string> {
    const response = await gateway.fetch("/v1/device-codes", { method: "POST", body: JSON.stringify(body) });
    return ((await response.json()) as { code: string }).code;
  }

  async function pair(id: string, code: string, ...more: string[]): Promise<string> {
    const args = ["--gateway", gateway.url, "--code", code, "--into", join(folder, id), ...more];
    const { code: exit, err } = await edgecall(["agent", "pair", ...args], {});
    expect(exit, err).toBe(0);
    return err;
  }

  type Mqtt = { url: string; username?: string; password?: string };
  const mqttOf = (id: string) => parseToml(readFileSync(join(folder, id, "agent.toml"), "utf8")).mqtt as Mqtt;

  /** Logs in as the device does, with a client id of its own. */
  async function login({ username, password }: Partial<Mqtt>): Promise<MqttClient> {
    const client = await connectAsync(url, {
      protocolVersion: 5,
      reconnectPeriod: 0,
      ...(username !== undefined && { username }),
      ...(password !== undefined && { password }),
    });
    client.on("error", () => {});
    clients.push(client);
    return client;
  }
  const mayLogin = (mqtt: Partial<Mqtt>) =>
    login(mqtt).then(
      () => true,
      () => false,
    );
  const ping = async (id: string) => (await gateway.command(id, "ping")).body.payload?.pong;
  const revoke = async (holder: string) =>
    expect((await gateway.fetch(`/v1/agents/${holder}/key`, { method: "DELETE" })).status).toBe(204);

  beforeAll(async () => {
    // No token admits a bridge.
    const vars = { ...testVars, BRIDGE_TOKENS: "[]", ALLOW_UNSIGNED_AGENTS: "" };
    const env = { ...vars, PORT: "0", EDGECALL_DIR: join(folder, "gateway") };
    const { url } = await run(new Program({ name: "worker", script: "local/worker.ts", env })).ready;
    gateway = new GatewayClient(String(url));

    await startBroker();
    // Plays the service's path unit, with the same delay: Mosquitto forgets a SIGHUP that arrives while it reads.
    let reload: NodeJS.Timeout | undefined;
    reloading = watch(brokerFiles, (_, name) => {
      if (name !== "passwords") return;
      clearTimeout(reload);
      reload = setTimeout(() => broker?.kill("SIGHUP"), RELOAD_AFTER_MS);
    });
  });

  /** On a port that was free a moment ago; another test may have taken it since. */
  async function startBroker(): Promise<void> {
    const port = await freePort();
    url = `mqtt://127.0.0.1:${port}`;
    await writeBrokerFiles({ dir: brokerFiles, agents: [], listen: { host: "127.0.0.1", port } });
    // As root it would switch to the user `mosquitto`, who may not read there.
    appendFileSync(join(brokerFiles, "mosquitto.conf"), "user root\n");
    const child = spawn(mosquitto ?? "", ["-c", join(brokerFiles, "mosquitto.conf")], { stdio: "ignore" });
    broker = child;
    const own = readFileSync(join(brokerFiles, "bridge-password"), "utf8").trim();
    const isOurs = () => mayLogin({ username: "edgecall-bridge", password: own });
    await until(async () => child.exitCode !== null || (await isOurs()), { within: WITHIN_MS });
    if (child.exitCode === null) return;
    rmSync(brokerFiles, { recursive: true, force: true });
    await startBroker();
  }

  afterEach(({ task }) => {
    if (task.result?.state !== "fail") return;
    for (const { name, lines } of programs) console.error(`${name}\n${lines.slice(-30).join("\n")}`);
  });
  afterAll(async () => {
    for (const client of clients) client.end(true);
    await Promise.all(programs.map((program) => program.stop()));
    reloading?.close();
    const gone = new Promise((resolve) => broker?.once("exit", resolve));
    if (broker?.kill()) await gone;
    rmSync(folder, { recursive: true, force: true });
  });

  test("one code makes the first machine bridge and agent", async () => {
    const more = ["--id", "hub", "--broker", url, "--bridge-state", bridgeState, "--bridge-broker", url];
    const output = await pair("hub", await newCode({ agent: "@bridge" }), ...more);
    expect(output).toContain("this machine is the home's bridge");
    for (const file of ["key.json", "gateway.json"])
      expect(statSync(join(bridgeState, file)).mode & 0o777, file).toBe(0o600);
    expect(mqttOf("hub")).toMatchObject({ username: "hub", password: expect.any(String) });
    // The agent starts first, and tries until the broker knows it.
    const hub = startAgent("hub");
    await until(() => hub.events("mqtt.offline").length > 0, { within: WITHIN_MS });
    bridge = startBridge();
    await bridge.ready;
    await gateway.online("hub", WITHIN_MS);
    expect(await ping("hub")).toBe(true);
  });

  test("a later machine learns the broker's address, and gets a login there", async () => {
    await pair("eye", await newCode(), "--id", "eye");
    expect(mqttOf("eye")).toMatchObject({ url, username: "eye" });
    expect(() => statSync(join(folder, "eye/state/broker-login"))).toThrow("ENOENT");
    startAgent("eye");
    await gateway.online("eye", WITHIN_MS);
    expect(await ping("eye")).toBe(true);
    // With another person's broker nothing is made, and nothing is sent.
    writePassword();
    const theirs = ["--broker", "mqtt://10.0.0.9:1883", "--username", "me", "--password-file"];
    await pair("far", await newCode(), "--id", "far", ...theirs, join(folder, "password"));
    expect(mqttOf("far")).toEqual({ url: "mqtt://10.0.0.9:1883", username: "me", password: "theirs" });
    expect(readFileSync(join(brokerFiles, "passwords"), "utf8")).not.toMatch(/^far:/m);
  });
  const writePassword = () => appendFileSync(join(folder, "password"), "theirs\n");

  test("no device can have the bridge's name at the broker", async () => {
    const code = await newCode();
    const args = [
      "--gateway",
      gateway.url,
      "--code",
      code,
      "--into",
      join(folder, "x"),
      "--id",
      "edgecall-bridge",
    ];
    expect(await edgecall(["agent", "pair", ...args], {})).toMatchObject({
      code: 2,
      err: expect.stringContaining("--id: expected another name"),
    });
  });

  test("one device's login cannot read or write another's topics", async () => {
    for (const wrong of [{}, { username: "eye", password: "guess" }, { ...mqttOf("eye"), username: "hub" }])
      expect(await mayLogin(wrong), JSON.stringify(wrong)).toBe(false);
    const eye = await login(mqttOf("eye"));
    const topics: string[] = [];
    eye.on("message", (topic) => topics.push(topic));
    await eye.subscribeAsync(["#", "evoclaw/agents/hub/+", "evoclaw/agents/+/commands"], { qos: 1 });
    for (const kind of TOPIC_KINDS) {
      const forged = eye.publishAsync(`evoclaw/agents/hub/${kind}`, "forged", { qos: 1 });
      await expect(forged, kind).rejects.toMatchObject({ code: 0x87 });
    }
    expect(await ping("hub")).toBe(true);
    expect(await ping("eye")).toBe(true);
    await until(() => topics.includes("evoclaw/agents/eye/commands"));
    expect(topics.filter((topic) => !/^evoclaw\/agents\/eye\/(commands|presence)$/.test(topic))).toEqual([]);
  });

  test("a revoked device's login ends with its key, and returns with it", async () => {
    const eye = await login(mqttOf("eye"));
    await revoke("eye");
    await until(async () => !(await mayLogin(mqttOf("eye"))), { within: WITHIN_MS });
    // A client that is still connected with that login is disconnected.
    await until(() => !eye.connected, { within: WITHIN_MS, what: "Mosquitto ends what it would not let in" });
    expect(await ping("hub")).toBe(true);
    // The answer to the new registration contains the login.
    const before = mqttOf("eye");
    await pair("eye", await newCode({ agent: "eye" }));
    expect(mqttOf("eye")).toEqual(before);
    await until(() => mayLogin(before), { within: WITHIN_MS });
    await gateway.online("eye", WITHIN_MS);
  });

  test("a forged bridge token gives no access; the bridge stays connected", async () => {
    const { host } = new URL(gateway.url);
    const stranger = await SignedBridge.make();
    const own = (gatewayHost: string, now: number) => readOwnKey(bridgeState)?.token(gatewayHost, now) ?? "";
    const tokens = [
      await stranger.token({ for: host }),
      own("gateway.example", Date.now()),
      own(host, Date.now() - 600_000),
      (await newKeyPair()).privateKey,
    ];
    for (const token of tokens) {
      const socket = new WebSocket(`${gateway.url.replace("http", "ws")}/bridge`, {
        headers: { authorization: `Bearer ${token}` },
      });
      const status = await new Promise((resolve) => {
        socket.on("unexpected-response", (_, response) => resolve(response.statusCode));
        socket.on("open", () => resolve("open"));
        socket.on("error", () => {});
      });
      socket.terminate();
      expect(status).toBe(401);
    }
    expect(await ping("hub")).toBe(true);
    expect(bridge.events("gateway.down")).toEqual([]);
  });

  test("a revoked bridge is disconnected at once and told what to do; a code admits it again", async () => {
    await revoke("@bridge");
    const down = await until(() => bridge.events("gateway.down").find(({ code }) => code === 4006));
    expect(down.reason).toContain("'Replace' beside @bridge");
    await bridge.stop();
    bridge = startBridge();
    const refused = await bridge.logged("gateway.refuses");
    expect(refused).toMatchObject({ status: 401, code: "key_revoked" });
    expect(refused.message).toContain("'Replace' beside @bridge");
    await bridge.stop();
    // Meanwhile the broker still admits the known devices.
    expect(await mayLogin(mqttOf("eye"))).toBe(true);

    const again = ["--bridge-state", bridgeState, "--bridge-broker", url];
    await pair("hub", await newCode({ agent: "@bridge" }), ...again);
    bridge = startBridge();
    await bridge.ready;
    await gateway.online("hub", WITHIN_MS);
    expect(await ping("hub")).toBe(true);
  });
});
