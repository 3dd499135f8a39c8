/**
 * A rule that acts on a paired agent's value: its device is switched while the gateway is off, also by a bridge that started meanwhile, and
 * that is told when the gateway is back.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { findMosquitto } from "../../bridge/testkit/brokers.ts";
import { PlayedPublisher } from "../../bridge/testkit/publisher.ts";
import { until } from "../wait.ts";
import { ACTS_WITHIN_MS, ActingRules } from "./acting-rules.ts";
import { HomeRules, RULE_VARS } from "./home-rules.ts";
import { HostedDevices } from "./hosted-devices.ts";
import { useStack } from "./stack.ts";

const folder = mkdtempSync(join(tmpdir(), "edgecall-automations-agent-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const TELLS = "The shed is hot, the fan is on.";

describe("a rule on an agent's value", { tags: ["needs/mosquitto"], timeout: 240_000 }, () => {
  const bridge = { BRIDGE_STATE: folder };
  const stack = useStack({ mosquitto: findMosquitto(), vars: RULE_VARS, bridge }, async (stack) => {
    await stack.startAgent({ id: "pi" });
    await stack.gateway.online("pi");
  });
  const rules = new ActingRules(() => stack.gateway);
  const said = new HomeRules(stack);
  const devices = new HostedDevices(stack);
  let publisher: PlayedPublisher;

  const cpuSays = (celsius: number) =>
    writeFileSync(join(stack.rootOf("pi"), "/sys/class/thermal/thermal_zone0/temp"), `${celsius * 1_000}\n`);
  const told = () => publisher.sentTo("fan");

  beforeAll(async () => {
    publisher = await PlayedPublisher.connect(stack.mqttUrl);
    await publisher.plug("fan", { more: { device: { identifiers: ["fan"], name: "Fan" } } });
    await publisher.say("plugs/fan/state", "OFF", true);
    await devices.known(["fan"]);
    cpuSays(45);
  }, 120_000);
  afterAll(() => publisher?.stop());

  test("is made of what the agent says that it has, and waits for its step", async () => {
    const when = { agent_id: "pi", is: "above", value: "60", for_minutes: 0 };
    const rule = (reading: string) => ({
      name: "Shed hot, fan on",
      when: [{ ...when, reading }],
      do: [{ agent_id: "fan", action: "set", parameters: { on: true } }],
      over: "off",
      say: TELLS,
    });
    const wrong = await rules.ask("wrong", [rule("temperature.cpu")]);
    expect(wrong.answer?.replaceAll("\u2060", "")).toContain("It has: temperature.cpu-thermal.celsius (°C)");
    await rules.make("home", [rule("temperature.cpu-thermal.celsius")]);
    await rules.armed();
    const [made] = await rules.list();
    expect(made).toMatchObject({
      reads: ["pi"],
      now: { now: ["pi, temperature.cpu-thermal.celsius: 45 °C"] },
    });
    expect(made?.card.join(" ")).toContain("How often it would have run is not known.");
    expect(told()).toEqual([]);
  });

  test("acts with the gateway off, and ends when the agent says so, also at a bridge that began anew", async () => {
    await stack.worker.kill();
    cpuSays(65);
    await until(() => told().length > 0, { within: ACTS_WITHIN_MS, what: "the fan is told" });
    expect(told()).toEqual(["ON"]);
    const kept = () => readFileSync(join(folder, "automations.json"), "utf8");
    await until(() => kept().includes('"outcome":"confirmed"'), {
      within: ACTS_WITHIN_MS,
      what: "the fan reports it",
    });
    await stack.bridge.kill();
    // It is ready once a gateway has welcomed it, which is off.
    void stack.startBridge().catch(() => undefined);
    cpuSays(45);
    await until(() => told().length > 1, { within: ACTS_WITHIN_MS, what: "the fan is told again" });
    expect(told()).toEqual(["ON", "OFF"]);
  });

  test("is told when the gateway is back", async () => {
    await stack.startWorker();
    const words = await said.toldCount("home", 1, ACTS_WITHIN_MS);
    expect(words.join("\n")).toContain(TELLS);
    await until(async () => (await rules.list())[0]?.now?.runs[0]?.state === "done", {
      within: ACTS_WITHIN_MS,
      every: 250,
      what: "the run, as the bridge has it",
    });
    const [rule] = await rules.list();
    expect(rule?.now?.runs).toMatchObject([
      { because: ["pi, temperature.cpu-thermal.celsius: 65 °C"], steps: [{ outcome: "confirmed" }, {}] },
    ]);
    expect(told()).toEqual(["ON", "OFF"]);
  });

  test("leaves the agent when it is ended", async () => {
    const [rule] = await rules.list();
    await stack.gateway.fetch(`/v1/automations/${rule?.id}`, { method: "DELETE" });
    cpuSays(70);
    await until(async () => (await rules.list()).length === 0, {
      within: ACTS_WITHIN_MS,
      what: "it is gone",
    });
    expect(told()).toEqual(["ON", "OFF"]);
  });
});
