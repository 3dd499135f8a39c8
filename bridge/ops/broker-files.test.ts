/** The files of `broker-files` with a real Mosquitto: who may publish and read what. */
import { type ChildProcess, spawn } from "node:child_process";
import { appendFileSync, mkdtempSync, readFileSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { BRIDGE_USER } from "@edgecall/core/broker/mosquitto.ts";
import { TOPIC_KINDS } from "@edgecall/core/protocol/names.ts";
import { connectAsync, type MqttClient } from "mqtt";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { freePort } from "../../local/port.ts";
import { listens } from "../../test/mosquitto.ts";
import { until } from "../../test/wait.ts";
import { findMosquitto } from "../testkit/brokers.ts";
import { brokerFilesCommand, writeBrokerFiles } from "./broker-files.ts";

const folder = () => mkdtempSync(join(tmpdir(), "broker-files-"));
const read = (dir: string, name: string) => readFileSync(join(dir, name), "utf8");

test("a second run: other users stay, named ones get a new password, and a person's own lines are kept", async () => {
  const dir = folder();
  const first = await writeBrokerFiles({ dir, agents: ["pi-1", "pi-2"] });
  expect([...first.keys()]).toEqual(["pi-1", "pi-2"]);
  const bridge = read(dir, "bridge-password");
  const line = (user: string) =>
    read(dir, "passwords")
      .split("\n")
      .find((text) => text.startsWith(`${user}:`));
  const before = { one: line("pi-1"), two: line("pi-2") };
  appendFileSync(join(dir, "mosquitto.conf"), "# mine\n");
  appendFileSync(join(dir, "passwords"), "zigbee:$7$101$a$b\n");

  await writeBrokerFiles({ dir, agents: ["pi-1", "pi-3"], remove: ["pi-2"] });
  expect(line("pi-1")).not.toBe(before.one);
  expect(line("pi-2")).toBeUndefined();
  expect([line("pi-3"), line("zigbee"), line(BRIDGE_USER)].every(Boolean)).toBe(true);
  expect(read(dir, "bridge-password")).toBe(bridge);
  expect(read(dir, "mosquitto.conf")).toContain("# mine");
  for (const name of ["passwords", "bridge-password", "acl"])
    expect(statSync(join(dir, name)).mode & 0o077).toBe(0);
});

test("an id that could widen a rule is refused, and so is the bridge's own name", async () => {
  for (const id of ["a/b", "+", "#", "a:b", "", BRIDGE_USER])
    await expect(writeBrokerFiles({ dir: folder(), agents: [id] })).rejects.toThrow(/agent/);
});

test("the command: passwords on stdout in the form of agent.toml, other texts on stderr", async () => {
  const dir = folder();
  const stdout: string[] = [];
  const stderr: string[] = [];
  const out = {
    stdout: (text: string) => void stdout.push(text),
    stderr: (text: string) => void stderr.push(text),
  };
  expect(await brokerFilesCommand([dir, "pi-1"], {}, out)).toBe(0);
  expect(stdout.join("")).toMatch(/\[mqtt\]\nusername = "pi-1"\npassword = "[\w-]{43}"\n/);
  expect(stderr.join("")).toContain(dir);
  expect(await brokerFilesCommand([], {}, out)).toBe(2);
  expect(await brokerFilesCommand([dir, "no way"], {}, out)).toBe(1);
  expect(stderr.join("")).toContain("agent 'no way': expected");
});

const program = findMosquitto();

describe("with Mosquitto (apt-get install mosquitto)", { tags: ["needs/mosquitto"] }, () => {
  let dir: string;
  let port: number;
  let broker: ChildProcess;
  let passwords: Map<string, string>;
  const clients: MqttClient[] = [];
  /** The messages that each client received, as `topic text`. */
  const heard = new Map<string, string[]>();

  const login = async (username: string, password: string, version: 4 | 5 = 5) => {
    const client = await connectAsync(`mqtt://127.0.0.1:${port}`, {
      username,
      password,
      protocolVersion: version,
      reconnectPeriod: 0,
    });
    clients.push(client);
    const list: string[] = [];
    heard.set(username, list);
    client.on("message", (topic, text) => list.push(`${topic} ${text}`));
    return client;
  };

  beforeAll(async () => {
    dir = folder();
    port = await freePort();
    passwords = await writeBrokerFiles({
      dir,
      agents: ["pi-1", "pi-2"],
      listen: { host: "127.0.0.1", port },
    });
    // As root it would switch to the user `mosquitto`, who may not read there.
    appendFileSync(join(dir, "mosquitto.conf"), "user root\n");
    broker = spawn(program ?? "", ["-c", join(dir, "mosquitto.conf")], { stdio: "ignore" });
    await until(() => listens(port), { what: "Mosquitto" });
  });

  afterAll(async () => {
    for (const client of clients) client.end(true);
    const gone = new Promise((resolve) => broker.once("exit", resolve));
    broker.kill();
    await gone;
  });

  test("strangers are refused: without a name, with a wrong password, with another user's password", async () => {
    const dial = (username?: string, password?: string) =>
      connectAsync(`mqtt://127.0.0.1:${port}`, {
        reconnectPeriod: 0,
        protocolVersion: 5,
        ...(username !== undefined && { username }),
        ...(password !== undefined && { password }),
      }).then((client) => clients.push(client));
    await expect(dial()).rejects.toThrow(/not authorized/i);
    await expect(dial("pi-1", "guess")).rejects.toThrow(/not authorized/i);
    await expect(dial("pi-1", passwords.get("pi-2"))).rejects.toThrow(/not authorized/i);
    await expect(dial("pi-3", passwords.get("pi-1"))).rejects.toThrow(/not authorized/i);
  });

  test("an agent publishes and reads its own topics; the bridge reads all and sends commands", async () => {
    const bridge = await login(BRIDGE_USER, read(dir, "bridge-password").trim());
    const one = await login("pi-1", passwords.get("pi-1") ?? "");
    const two = await login("pi-2", passwords.get("pi-2") ?? "");
    for (const client of [bridge, one, two]) await client.subscribeAsync("#", { qos: 1 });

    const refused = { code: 0x87 };
    for (const kind of TOPIC_KINDS) {
      const own = one.publishAsync(`evoclaw/agents/pi-1/${kind}`, "mine", { qos: 1 });
      if (kind === "commands") await expect(own).rejects.toMatchObject(refused);
      else await own;
      // Never in another agent's name.
      await expect(
        one.publishAsync(`evoclaw/agents/pi-2/${kind}`, "forged", { qos: 1 }),
      ).rejects.toMatchObject(refused);
    }
    for (const topic of ["evoclaw/broadcast", "evoclaw/agents/pi-1/strategy", "elsewhere", "$SYS/x"])
      await expect(one.publishAsync(topic, "forged", { qos: 1 })).rejects.toMatchObject(refused);
    await expect(
      bridge.publishAsync("evoclaw/agents/pi-1/reports", "forged", { qos: 1 }),
    ).rejects.toMatchObject(refused);

    await bridge.publishAsync("evoclaw/agents/pi-1/commands", "for one", { qos: 1 });
    await bridge.publishAsync("evoclaw/agents/pi-2/commands", "for two", { qos: 1 });
    await until(() => heard.get("pi-2")?.includes("evoclaw/agents/pi-2/commands for two"));
    await until(() => heard.get("pi-1")?.includes("evoclaw/agents/pi-1/commands for one"));
    await until(() => heard.get(BRIDGE_USER)?.length === TOPIC_KINDS.length - 1);

    // The broker keeps the order of one connection, so an earlier message would have arrived by now.
    expect(heard.get("pi-2")).toEqual(["evoclaw/agents/pi-2/commands for two"]);
    expect(new Set(heard.get("pi-1"))).toEqual(
      new Set(["evoclaw/agents/pi-1/commands for one", "evoclaw/agents/pi-1/presence mine"]),
    );
    expect(heard.get(BRIDGE_USER)?.join("\n")).not.toContain("forged");
  });

  test("after SIGHUP a removed password is refused, and a new agent's works", async () => {
    const given = await writeBrokerFiles({ dir, agents: ["pi-3"], remove: ["pi-2"] });
    broker.kill("SIGHUP");
    // Also with MQTT 3.1.1, which EvoClaw's agents use.
    await until(() =>
      login("pi-3", given.get("pi-3") ?? "", 4).then(
        () => true,
        () => false,
      ),
    );
    await expect(login("pi-2", passwords.get("pi-2") ?? "")).rejects.toThrow(/not authorized/i);
  });
});
