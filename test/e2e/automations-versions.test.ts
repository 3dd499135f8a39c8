/** Rules that act, with programs of the version before: a home that is upgraded in parts does not act, and says why. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { findMosquitto } from "../../bridge/testkit/brokers.ts";
import { PlayedPublisher } from "../../bridge/testkit/publisher.ts";
import { type GatewayOptions, startWorker } from "../../local/gateway.ts";
import { keptWorker, openPrograms } from "../kept/programs.ts";
import { testVars } from "../tokens.ts";
import { until } from "../wait.ts";
import { ACTS_WITHIN_MS, ActingRules } from "./acting-rules.ts";
import { HostedDevices } from "./hosted-devices.ts";
import { useStack } from "./stack.ts";

const programs = openPrograms();
const folder = mkdtempSync(join(tmpdir(), "edgecall-automations-versions-"));
afterAll(() => {
  for (const dir of [programs.folder, folder]) rmSync(dir, { recursive: true, force: true });
});

const VARS = { GATEWAY_TOOLS: "rules", TIMEZONE: "Europe/Berlin" };
const RULE = {
  name: "Dial up, lamp on",
  when: [{ agent_id: "dial", reading: "Temperature", is: "above", value: 50, for_minutes: 0 }],
  do: [{ agent_id: "plug-lamp", action: "set", parameters: { on: true } }],
  over: "leave",
};

/** A dial and a lamp. */
async function publish(url: string): Promise<PlayedPublisher> {
  const publisher = await PlayedPublisher.connect(url);
  await publisher.config("sensor/dial", {
    name: "Temperature",
    unique_id: "dial-t",
    state_topic: "dial/value",
    device_class: "temperature",
    unit_of_measurement: "°C",
    device: { identifiers: ["dial"], name: "Dial" },
  });
  await publisher.say("dial/value", "10", true);
  await publisher.plug("lamp");
  return publisher;
}

describe("a bridge of 0.4.0 with today's gateway", { tags: ["needs/mosquitto"], timeout: 240_000 }, () => {
  const bridge = { BRIDGE_STATE: join(folder, "old-bridge") };
  const bridgeScript = programs.kept("bridge", "0.4.0");
  const stack = useStack({ mosquitto: findMosquitto(), vars: VARS, bridge, bridgeScript });
  const rules = new ActingRules(() => stack.gateway);

  test("has no tool for a rule that acts, is named as older, and gets no frame that it does not know", async () => {
    const publisher = await publish(stack.mqttUrl);
    await new HostedDevices(stack).known(["dial", "plug-lamp"]);
    const { calls, answer } = await rules.ask("home", [RULE]);
    expect(calls).toMatchObject([{ status: "error" }]);
    expect(answer).toContain("Tool 'automate' not found");
    expect(await rules.all()).toMatchObject({ bridge: "older", automations: [] });
    await publisher.say("dial/value", "90", true);
    const read = await new HostedDevices(stack).ask("dial", "read");
    expect(read.text).toContain("90");
    expect(publisher.sentTo("lamp")).toEqual([]);
    expect(stack.bridge.events("gateway.frame_ignored")).toEqual([]);
    await publisher.stop();
  });
});

describe("today's bridge with a gateway of 0.4.0", { tags: ["needs/mosquitto"], timeout: 400_000 }, () => {
  const bridge = { BRIDGE_STATE: join(folder, "new-bridge") };
  const stack = useStack({ mosquitto: findMosquitto(), vars: VARS, bridge });
  const rules = new ActingRules(() => stack.gateway);

  test("is refused with what has to be updated, acts at home on, and tells it to the gateway that comes back", async () => {
    const publisher = await publish(stack.mqttUrl);
    await new HostedDevices(stack).known(["dial", "plug-lamp"]);
    await rules.make("home", [RULE]);
    await rules.armed();
    await stack.worker.stop();
    const old: GatewayOptions = {
      ...keptWorker("0.4.0"),
      port: Number(new URL(stack.gateway.url).port),
      dir: join(folder, "old-gateway"),
      vars: { ...testVars, ...VARS },
    };
    const worker = await startWorker(old);
    try {
      await until(() => stack.bridge.lines.some((line) => line.includes("update the gateway")), {
        within: ACTS_WITHIN_MS,
        what: "the bridge says what has to be updated",
      });
      await publisher.say("dial/value", "90", true);
      await until(() => publisher.sentTo("lamp").length > 0, {
        within: ACTS_WITHIN_MS,
        what: "the rule acts at home",
      });
    } finally {
      await worker.stop();
    }
    await stack.startWorker();
    await stack.bridge.stop();
    await stack.startBridge();
    await until(async () => (await rules.list()).flatMap(({ now }) => now?.runs ?? []).length > 0, {
      within: ACTS_WITHIN_MS,
      every: 250,
      what: "the run is told",
    });
    expect(publisher.sentTo("lamp")).toEqual(["ON"]);
    await publisher.stop();
  });
});
