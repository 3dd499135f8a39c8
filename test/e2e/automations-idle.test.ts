/**
 * A hundred rules that act, which is a home's limit, and as many watches; a day of the demo home passes at speed. While nothing is to be told
 * there is no frame on the line, no row at Home, and no token, also while rules act and their devices confirm it.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { AUTOMATIONS_MAX } from "@edgecall/core/protocol/automation.ts";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { findMosquitto } from "../../bridge/testkit/brokers.ts";
import { type DemoHome, startDemoHome } from "../../local/demo/demo.ts";
import { sha256, testVars } from "../tokens.ts";
import { until } from "../wait.ts";
import { ActingRules } from "./acting-rules.ts";
import { GatewayClient } from "./gateway-client.ts";
import { HomeRules, RULE_VARS } from "./home-rules.ts";
import { HostedDevices } from "./hosted-devices.ts";
import { pacedClock } from "./paced-clock.ts";
import { useStack } from "./stack.ts";
import { WireTap } from "./wire-tap.ts";

/** A person has 20 rules at most. */
const PEOPLE = ["ada", "bea", "cem", "dan", "eva"];
const EACH = AUTOMATIONS_MAX / PEOPLE.length;
const DAY_S = 86_400;
/** Seconds of the house in one of the clock, at most: a day in three minutes. */
const SPEED = 500;
/** Home sleeps after 10 s. */
const SETTLED_MS = 12_000;

const folder = mkdtempSync(join(tmpdir(), "edgecall-automations-idle-"));
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

/** What the house has, and lights that confirm what they are told. */
const LIGHTS = ["kitchen-light", "counter-light", "reading-lamp", "ceiling-light", "hall-light", "desk-lamp"];
/** What happens once in an hour of the house: more than 12 runs in an hour would be told. */
const BY_DAY = [["leak-sensor", "Water leak", "wet"]] as const;
/** Those of a publisher with names: what rtl_433 hears is numbered. */
const WARM = ["office-thermometer", "kitchen-sensor", "bathroom-sensor"];

describe("a hundred rules that act", { tags: ["needs/mosquitto"], timeout: 600_000 }, () => {
  const bridge: Record<string, string> = { BRIDGE_STATE: folder };
  const stack = useStack({ mosquitto: findMosquitto(), vars: { ...RULE_VARS, API_TOKENS }, bridge });
  const devices = new HostedDevices(stack);
  const rules = new ActingRules(() => stack.gateway);
  let home: DemoHome | undefined;
  let tap: WireTap;

  beforeAll(async () => {
    await stack.bridge.stop();
    tap = await WireTap.open(stack.gateway.url);
    bridge.GATEWAY_URL = tap.url;
    await stack.startBridge();
    home = await startDemoHome({ url: stack.mqttUrl, speed: 1 });
    await devices.known([...LIGHTS, ...WARM, "hall-motion", "gate-motion"]);
    for (const [n, name] of PEOPLE.entries()) await make(name, n);
    await rules.armed();
    await home.stop();
  }, 300_000);
  afterAll(async () => {
    await home?.stop();
    await tap?.close();
  });

  /** Twenty that act and twenty watches; some of those that act do so often, and say nothing. */
  async function make(name: string, n: number): Promise<void> {
    const own = new GatewayClient(stack.gateway.url, tokenOf(name));
    const acting = Array.from({ length: EACH }, (_, k) => {
      const act = (agent_id: string, on: boolean) => [{ agent_id, action: "set", parameters: { on } }];
      const light = LIGHTS[(n + k) % LIGHTS.length] ?? "hall-light";
      const [sensor, reading, value] = n === 0 ? (BY_DAY[k] ?? []) : [];
      if (sensor !== undefined)
        return {
          name: `By day ${k}`,
          when: [{ agent_id: sensor, reading, is: "equal", value, for_minutes: 0 }],
          // Each has a light of its own.
          do: act(light, true),
          over: "leave",
        };
      return {
        name: `Too warm ${n}${k}`,
        when: [
          {
            agent_id: WARM[k % WARM.length],
            reading: "temperature",
            is: "above",
            value: 70 + k,
            for_minutes: 0,
          },
        ],
        do: act(light, true),
        over: "off",
      };
    });
    const watches = Array.from({ length: EACH }, (_, k) => ({
      name: `Watch ${n}${k}`,
      agent_id: WARM[k % WARM.length],
      reading: "temperature",
      is: "above",
      value: 80 + k,
      for_minutes: 0,
    }));
    for (let at = 0; at < EACH; at += 5)
      await rules.make(`acting-${name}-${at}`, acting.slice(at, at + 5), own);
    for (let at = 0; at < EACH; at += 5)
      await new HomeRules({ gateway: own }).make(
        `watches-${name}-${at}`,
        ...watches.slice(at, at + 5).map((one) => ({ name: "watch" as const, arguments: one })),
      );
  }

  /** Frames on the line, without the keepalive. */
  const frames = () => tap.frames.filter(({ text }) => text !== "ping" && text !== "pong");
  const homeRows = async () => {
    const lines = (await (await stack.gateway.fetch("/v1/export")).text()).split("\n");
    const end = lines.findIndex((line, at) => at > 1 && line.startsWith('{"object":'));
    return lines.slice(1, end);
  };
  const isQuiet = () =>
    until(() => performance.now() - (frames().at(-1)?.at ?? 0) > SETTLED_MS, {
      within: 90_000,
      every: 100,
      what: "the line is quiet",
    });

  test("a day passes: no frame, no row, no token; and rules have acted in it", async () => {
    expect(await rules.list()).toHaveLength(AUTOMATIONS_MAX);
    const clock = pacedClock(Number(new URL(stack.mqttUrl).port));
    home = await startDemoHome({ url: stack.mqttUrl, speed: SPEED, clock });
    await devices.known(LIGHTS);
    // That its devices are there again is told, as it is of any.
    await isQuiet();
    const before = await homeRows();
    const [count, asked, from] = [frames().length, stack.model.requests.length, home.second()];

    await until(() => (home?.second() ?? 0) - from >= DAY_S, {
      within: 400_000,
      every: 500,
      what: "a day of the house",
    });
    expect(frames().slice(count)).toEqual([]);
    expect(await homeRows()).toEqual(before);
    expect(stack.model.requests.length).toBe(asked);

    const ran = (await rules.list()).filter(({ name }) => name.startsWith("By day"));
    const runs = ran.flatMap(({ now }) => now?.runs ?? []);
    expect(runs.length).toBeGreaterThan(2);
    for (const { state, steps } of runs) {
      expect(state).toBe("done");
      expect(steps.map(({ outcome }) => outcome)).toEqual(["confirmed"]);
    }
  });
});
