/** Real publishers, and what a person is told of them: broker, bridge, Worker and publishers are real programs. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pass } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { findMosquitto } from "../../bridge/testkit/brokers.ts";
import { BrokerView } from "../publishers/broker-view.ts";
import { type Rtl433, startRtl433 } from "../publishers/rtl-433.ts";
import { startZigbee2mqtt, type Zigbee2mqtt } from "../publishers/zigbee2mqtt.ts";
import { until } from "../wait.ts";
import { HomeRules, RULE_VARS } from "./home-rules.ts";
import { HostedDevices } from "./hosted-devices.ts";
import { useStack } from "./stack.ts";

const folder = mkdtempSync(join(tmpdir(), "edgecall-watch-publishers-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const FREEZER = "nexus-th-1-90";
const GATE = "garden-gate";
const FLAPS = 200;
const FLAP_EVERY_MS = 300;
/** A watch is over when it was for a minute, and its message may wait for 30 s more; the rest is for a busy machine. */
const OVER_WITHIN_MS = 150_000;

describe("what publishers say", {
  tags: ["needs/mosquitto", "needs/publishers", "needs/rtl-433", "needs/zigbee2mqtt"],
  timeout: 360_000,
}, () => {
  const stack = useStack({ mosquitto: findMosquitto(), vars: RULE_VARS, bridge: { BRIDGE_STATE: folder } });
  const devices = new HostedDevices(stack);
  const rules = new HomeRules(stack);
  let view: BrokerView;
  let radio: Rtl433;
  let zigbee: Zigbee2mqtt;

  beforeAll(async () => {
    const port = Number(new URL(stack.mqttUrl).port);
    view = await BrokerView.open(port);
    [radio, zigbee] = await Promise.all([startRtl433(port), startZigbee2mqtt(port, view)]);
    hears(-18.2);
    await devices.known([FREEZER, GATE]);
    await isRead(FREEZER, -18.2);
    await isRead(GATE, false);
  }, 180_000);
  afterAll(async () => {
    await Promise.all([radio?.stop(), zigbee?.stop()]);
    await view?.client.endAsync(true);
  });

  const hears = (temperature: number) => radio.hear({ id: 90, channel: 1, temperature, humidity: 40 });

  /** Waits until the home has a reading of the device with this value. @returns its name */
  async function isRead(id: string, value: number | boolean): Promise<string> {
    return await until(
      async () => {
        const device = (await devices.list()).find((one) => one.id === id);
        const found = device?.readings.find((one) => one.value === value)?.name;
        // Nobody may have listened yet.
        if (found === undefined && typeof value === "number") hears(value);
        else if (found === undefined) zigbee.report("Garden gate", { "genOnOff.onOff": value ? 1 : 0 });
        return found;
      },
      { within: 60_000, every: 1_000, what: `${id} says ${value}` },
    );
  }

  test.concurrent("rtl_433's freezer of −18.2 °C that warms past −15 °C is told once, and its recovery once", async () => {
    const reading = await isRead(FREEZER, -18.2);
    const is = { is: "above", value: -15, for_minutes: 0 };
    const [made] = await rules.make("freezer", {
      name: "watch",
      arguments: { name: "Freezer too warm", agent_id: FREEZER, reading, ...is },
    });
    expect(made).toContain("“Freezer too warm”");
    expect(made).toContain("Now: −18.2 °C.");
    for (const value of [-17, -15.2, -14.8, -13, -12.1]) await isRead(FREEZER, value);
    const [first] = await rules.toldCount("freezer", 1);
    expect(first).toMatch(/^🔔 Freezer too warm: −14\.8 °C at \d\d:\d\d \(limit −15 °C\)\. /);
    for (const value of [-14.2, -16, -18.3]) await isRead(FREEZER, value);
    const told = await rules.toldCount("freezer", 2, OVER_WITHIN_MS);
    expect(told[1]).toMatch(/^✓ Freezer too warm: over at /);
    expect(told[1]).toContain("−18.3 °C");
    await isRead(FREEZER, -19);
    expect(await rules.told("freezer")).toHaveLength(2);
    expect((await rules.list()).find(({ name }) => name === "Freezer too warm")?.history).toHaveLength(1);
  });

  test.concurrent(`zigbee2mqtt's gate that opens and closes ${FLAPS} times in a minute: two messages at most`, async () => {
    const reading = await isRead(GATE, false);
    await rules.make("gate", {
      name: "watch",
      arguments: { name: "Gate open", agent_id: GATE, reading, is: "equal", value: "open" },
    });
    const before = view.of("zigbee2mqtt/Garden gate").length;
    const began = performance.now();
    for (let flap = 0; flap < FLAPS; flap += 1) {
      zigbee.report("Garden gate", { "genOnOff.onOff": 1 });
      zigbee.report("Garden gate", { "genOnOff.onOff": 0 });
      await pass(Math.max(0, began + flap * FLAP_EVERY_MS - performance.now()));
    }
    const said = view.of("zigbee2mqtt/Garden gate").slice(before);
    const opened = said.filter(({ text }) => (JSON.parse(text) as { contact: boolean }).contact === false);
    expect(opened.length).toBeGreaterThanOrEqual(FLAPS - 1);
    expect(await rules.told("gate")).toHaveLength(1);
    const told = await rules.toldCount("gate", 2, OVER_WITHIN_MS);
    expect(told[0]).toMatch(/^🔔 Gate open: /);
    expect(told[1]).toMatch(/^✓ Gate open: over at /);
    expect((await rules.list()).find(({ name }) => name === "Gate open")?.history).toHaveLength(1);
  });
});
