/**
 * Two watches, of a device of the broker and of a paired agent, whose firings outlive what happens to a home: a new name, a killed
 * agent, another key, another bridge, a restored back-up, another id. Each test goes on with what the one before has left.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { findMosquitto } from "../../bridge/testkit/brokers.ts";
import { PlayedPublisher } from "../../bridge/testkit/publisher.ts";
import { makeIdentity, openIdentity } from "../../pi-agent/link/identity.ts";
import { until } from "../wait.ts";
import { HomeRules, RULE_VARS, type ShownRule } from "./home-rules.ts";
import { HostedDevices } from "./hosted-devices.ts";
import { useStack } from "./stack.ts";

const folder = mkdtempSync(join(tmpdir(), "edgecall-watch-goes-on-"));
/** Of the agent, whatever its name. */
const stateDir = join(folder, "pi");
const bridge = { BRIDGE_STATE: join(folder, "bridge") };

/** A server of ntfy that takes messages when it may. */
const ntfy = { takes: false, refused: 0, taken: [] as string[] };
const server = createServer((request, response) => {
  const parts: Buffer[] = [];
  request.on("data", (part: Buffer) => parts.push(part));
  request.on("end", () => {
    if (ntfy.takes)
      ntfy.taken.push((JSON.parse(Buffer.concat(parts).toString()) as { message: string }).message);
    else ntfy.refused += 1;
    response.writeHead(ntfy.takes ? 200 : 503).end();
  });
});
await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
const ntfyUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
afterAll(() => {
  server.closeAllConnections();
  server.close();
  rmSync(folder, { recursive: true, force: true });
});

/** A watch is over when it was for a minute, and its message may wait for 30 s more; the rest is for a busy machine. */
const OVER_WITHIN_MS = 150_000;
const LOOKS_WITHIN_MS = 30_000;
/** An agent that looks each 10 s; its message then waits for 30 s after another. */
const TOLD_WITHIN_MS = 80_000;

describe("a watch goes on", { tags: ["needs/mosquitto"], timeout: 240_000 }, () => {
  const vars = { ...RULE_VARS, PUSH_SERVERS: ntfyUrl };
  const stack = useStack({ mosquitto: findMosquitto(), vars, bridge }, async (stack) => {
    await stack.startAgent({ id: "pi", top: { state_dir: stateDir } });
    await stack.gateway.online("pi");
  });
  const rules = new HomeRules(stack);
  const devices = new HostedDevices(stack);
  let publisher: PlayedPublisher;

  const announce = (name: string) =>
    publisher.config("sensor/freezer", {
      name: "Temperature",
      unique_id: "freezer-t",
      state_topic: "rtl/freezer",
      unit_of_measurement: "°C",
      device_class: "temperature",
      device: { identifiers: ["freezer"], name },
    });
  const freezerSays = (celsius: number) => publisher.say("rtl/freezer", String(celsius), true);
  const cpuSays = (id: string, celsius: number) =>
    writeFileSync(join(stack.rootOf(id), "/sys/class/thermal/thermal_zone0/temp"), `${celsius * 1_000}\n`);
  const byName = async () => new Map((await rules.list()).map((rule) => [rule.name, rule]));
  /** Waits until the home has the agent, with the rules that it watches. */
  const back = (id: string) => stack.gateway.online(id, 60_000);

  beforeAll(async () => {
    publisher = await PlayedPublisher.connect(stack.mqttUrl);
    await announce("Freezer");
    await freezerSays(-18.2);
    await devices.known(["freezer"]);
    await rules.make(
      "home",
      {
        name: "watch",
        arguments: {
          name: "Freezer too warm",
          agent_id: "freezer",
          reading: "Temperature",
          is: "above",
          value: -15,
          for_minutes: 0,
        },
      },
      {
        name: "watch",
        arguments: {
          name: "Pi too hot",
          agent_id: "pi",
          reading: "temperature",
          field: "cpu-thermal.celsius",
          is: "above",
          value: 60,
          for_minutes: 0,
          check_seconds: 10,
          repeat: "until_ack",
        },
      },
    );
    const url = `${ntfyUrl}/home`;
    const topic = await stack.gateway.fetch("/v1/push/topics", {
      method: "POST",
      body: JSON.stringify({ url }),
    });
    expect(topic.status).toBe(201);
  }, 120_000);
  afterAll(() => publisher?.client.endAsync(true));

  /** What was told so far, and nothing more. */
  let told: string[] = [];

  test("a new name, by its publisher or by a person: it fires, with the name of now", async () => {
    await announce("Chest freezer");
    await until(async () => (await devices.list()).some(({ name }) => name === "Chest freezer"), {
      within: LOOKS_WITHIN_MS,
      what: "the new name",
    });
    const body = JSON.stringify({ name: "Big freezer" });
    expect((await stack.gateway.fetch("/v1/devices/freezer", { method: "PATCH", body })).status).toBe(200);
    await freezerSays(-14);
    [...told] = await rules.toldCount("home", 1);
    expect(told[0]).toMatch(/^🔔 Freezer too warm: −14 °C at \d\d:\d\d \(limit −15 °C\)\. Big freezer\.$/);
    cpuSays("pi", 65);
    [...told] = await rules.toldCount("home", 2, TOLD_WITHIN_MS);
    expect(told[1]).toMatch(/^🔔 Pi too hot: 65 °C at .* \(limit 60 °C\)\. pi\.$/);
  });

  test("the agent is killed within the firing: it is not told again", async () => {
    await stack.agent("pi").kill();
    await stack.restartAgent("pi");
    await back("pi");
  });

  test("its new key is taken on the old one's word", async () => {
    await stack.agent("pi").stop();
    const before = await openIdentity(stateDir);
    const { publicKey } = await makeIdentity(stateDir);
    const body = JSON.stringify({ public_key: publicKey, signature: before.nameSuccessor("pi", publicKey) });
    const response = await stack.gateway.fetch("/v1/agents/pi/key", { method: "POST", body });
    expect(response.status).toBeLessThan(300);
    await stack.restartAgent("pi");
    await back("pi");
    expect((await byName()).get("Pi too hot")).toMatchObject({
      status: "active",
      agent: "pi",
      state: "firing",
    });
  });

  test("another bridge, without the files of the one before, gets the rules and what is firing", async () => {
    await stack.bridge.kill();
    await freezerSays(-13);
    bridge.BRIDGE_STATE = join(folder, "other-bridge");
    await stack.startBridge("other");
    // This one gave it an id by its name of now.
    await devices.known(["chest-freezer"]);
    await back("pi");
    expect(await rules.told("home")).toEqual(told);
  });

  test("a back-up into a gateway that knows nothing: rules, history, and what ntfy did not get yet", async () => {
    expect(ntfy.refused).toBeGreaterThan(0);
    const before = await rules.list();
    const file = await (await stack.gateway.fetch("/v1/export")).text();
    await stack.worker.kill();
    const ups = stack.bridge.events("gateway.up").length;
    await stack.startWorker({ forget: true });
    await until(() => stack.bridge.events("gateway.up").length > ups, {
      within: 60_000,
      what: "the bridge is back",
    });
    expect(await rules.list()).toEqual([]);
    ntfy.takes = true;
    const response = await stack.gateway.fetch("/v1/import?replace=yes", { method: "POST", body: file });
    expect(await response.text()).not.toContain("error");
    await back("pi");
    await devices.known(["chest-freezer"]);
    const known = ({ id, name, status, agent, history }: ShownRule) => ({ id, name, status, agent, history });
    expect((await rules.list()).map(known)).toEqual(before.map(known));
    await until(() => ntfy.taken.length >= 2, { within: LOOKS_WITHIN_MS, what: "both messages at ntfy" });
  });
  test("all that goes on was told once, and so is its end", async () => {
    await freezerSays(-12.5);
    await freezerSays(-18);
    cpuSays("pi", 41);
    const all = await rules.toldCount("home", 4, OVER_WITHIN_MS);
    expect(all.slice(0, 2)).toEqual(told);
    expect(all.slice(2).sort()).toEqual([
      expect.stringMatching(/^✓ Freezer too warm: over at .*Big freezer\.$/),
      expect.stringMatching(/^✓ Pi too hot: over at .* pi\.$/),
    ]);
    told = all;
    const histories = (await rules.list()).map(({ history }) => history);
    expect(histories).toMatchObject([[{ until: expect.any(Number) }], [{ until: expect.any(Number) }]]);
    await until(() => ntfy.taken.length >= 4, { within: LOOKS_WITHIN_MS, what: "the ends at ntfy" });
    expect([...ntfy.taken].sort()).toEqual([...told].sort());
  });

  test("another id with the same key is the same device, also when the old id is gone", async () => {
    await stack.agent("pi").stop();
    await stack.startAgent({ id: "shed", top: { state_dir: stateDir } });
    await back("shed");
    const rule = async () => (await byName()).get("Pi too hot");
    await until(async () => (await rule())?.agent === "shed", { what: "its new id" });
    expect((await stack.gateway.fetch("/v1/agents/pi/key", { method: "DELETE" })).ok).toBe(true);
    expect(await rule()).toMatchObject({ status: "active", agent: "shed" });
    cpuSays("shed", 70);
    const all = await rules.toldCount("home", 5, TOLD_WITHIN_MS);
    expect(all[4]).toMatch(/^🔔 Pi too hot: 70 °C at .* shed\.$/);
  });
});
