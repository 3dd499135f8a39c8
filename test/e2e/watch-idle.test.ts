/** A hundred rules of all places, and nothing changes: no frame on the line, and no row at Home. Then two values change. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pass } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { findMosquitto } from "../../bridge/testkit/brokers.ts";
import { PlayedPublisher } from "../../bridge/testkit/publisher.ts";
import { byClock } from "../clock.ts";
import { sha256, testVars } from "../tokens.ts";
import { until } from "../wait.ts";
import { GatewayClient } from "./gateway-client.ts";
import { HomeRules, RULE_VARS } from "./home-rules.ts";
import { HostedDevices } from "./hosted-devices.ts";
import { useStack } from "./stack.ts";
import { WireTap } from "./wire-tap.ts";

/** A person has 20 rules at most. */
const PEOPLE = ["ada", "bea", "cem", "dan", "eva"];
/** Six looks of an agent at its readings, and more. */
const QUIET_MS = byClock(60_000, 20_000);
/** The agent tells of its rules 2 s after the last ones, and Home sleeps after 10 s. */
const SETTLED_MS = 12_000;

const folder = mkdtempSync(join(tmpdir(), "edgecall-watch-idle-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const tokenOf = (name: string) => `test-token-of-${name}`;
const API_TOKENS = JSON.stringify([
  ...(JSON.parse(testVars.API_TOKENS) as object[]),
  ...PEOPLE.map((name) => ({
    hash: sha256(tokenOf(name)),
    name,
    home: "a",
    role: "owner",
    scopes: ["ask", "command", "approve", "admin"],
  })),
]);

describe("a hundred rules", { tags: ["needs/mosquitto"], timeout: 240_000 }, () => {
  const bridge: Record<string, string> = { BRIDGE_STATE: folder };
  const stack = useStack({ mosquitto: findMosquitto(), vars: { ...RULE_VARS, API_TOKENS }, bridge });
  const devices = new HostedDevices(stack);
  const rules = new HomeRules(stack);
  let publisher: PlayedPublisher;
  let tap: WireTap;
  let repeats: NodeJS.Timeout | undefined;
  let celsius = -18.2;

  beforeAll(async () => {
    // The bridge comes again, by way of the tap.
    await stack.bridge.stop();
    tap = await WireTap.open(stack.gateway.url);
    bridge.GATEWAY_URL = tap.url;
    await stack.startBridge();
    await stack.startAgent({ id: "pi" });
    publisher = await PlayedPublisher.connect(stack.mqttUrl);
    await publisher.config("sensor/freezer", {
      name: "Temperature",
      unique_id: "freezer-t",
      state_topic: "rtl/freezer",
      unit_of_measurement: "°C",
      device_class: "temperature",
      device: { identifiers: ["freezer"], name: "Freezer" },
    });
    // It says each second what it said before.
    repeats = setInterval(() => void publisher.say("rtl/freezer", String(celsius)).catch(() => {}), 1_000);
    await devices.known(["freezer"]);
    await stack.gateway.online("pi");
    for (const name of PEOPLE) await makeTwenty(name);
  }, 180_000);
  afterAll(async () => {
    clearInterval(repeats);
    await publisher?.client.endAsync(true);
    await tap?.close();
  });

  /** Six on the device of the broker, six on the agent, four on presence, four reminders. */
  async function makeTwenty(name: string): Promise<void> {
    const own = new HomeRules({ gateway: new GatewayClient(stack.gateway.url, tokenOf(name)) });
    const watch = (more: object) => ({ name: "watch" as const, arguments: { for_minutes: 0, ...more } });
    const six = [...Array(6).keys()];
    await own.make(
      name,
      ...six.map((n) =>
        watch({
          name: `Freezer ${n}`,
          agent_id: "freezer",
          reading: "Temperature",
          is: "above",
          value: n - 15,
        }),
      ),
    );
    await own.make(
      name,
      ...six.map((n) =>
        watch({
          name: `Pi ${n}`,
          agent_id: "pi",
          reading: "temperature",
          field: "cpu-thermal.celsius",
          is: "above",
          value: 60 + n,
          check_seconds: 10,
        }),
      ),
    );
    await own.make(
      name,
      ...["freezer", "pi", "freezer", "pi"].map((agent_id, n) =>
        watch({ name: `Offline ${n}`, agent_id, reading: "presence", is: "offline" }),
      ),
      ...[1, 2, 3, 4].map((n) => ({
        name: "remind" as const,
        arguments: { text: `tea ${n}`, in_minutes: 600 + n },
      })),
    );
  }

  /** Frames on the line, without the keepalive. */
  const frames = () => tap.frames.filter(({ text }) => text !== "ping" && text !== "pong");
  const homeRows = async () => {
    const lines = (await (await stack.gateway.fetch("/v1/export")).text()).split("\n");
    const end = lines.findIndex((line, at) => at > 1 && line.startsWith('{"object":'));
    return lines.slice(1, end);
  };

  test("nothing changes for a while: no frame, and no row; what changes then is told", async () => {
    expect(await rules.list()).toHaveLength(100);
    await until(() => performance.now() - (frames().at(-1)?.at ?? 0) > SETTLED_MS, {
      within: 60_000,
      every: 100,
      what: "the line is quiet",
    });
    // Only now: an alarm of the rules' start may tidy up as well.
    const before = await homeRows();
    expect(before.filter((line) => line.startsWith('{"table":"rule"'))).toHaveLength(100);
    const [count, pings] = [frames().length, tap.frames.length];
    expect(frames().some(({ text }) => text.startsWith('{"t":"rules"'))).toBe(true);
    await pass(QUIET_MS);
    expect(frames().slice(count)).toEqual([]);
    expect(tap.frames.length).toBeGreaterThan(pings);
    expect(await homeRows()).toEqual(before);
    for (const name of PEOPLE) expect(await rules.told(name)).toEqual([]);

    celsius = -14.5;
    writeFileSync(join(stack.rootOf("pi"), "/sys/class/thermal/thermal_zone0/temp"), "60400\n");
    for (const name of PEOPLE) {
      // The second comes within 30 s of the first, and waits for that.
      const told = (await rules.toldCount(name, 2, 60_000)).join("\n");
      expect(told).toContain("Freezer 0: −14.5 °C");
      expect(told).toContain("Pi 0: 60.4 °C");
    }
  });
});
