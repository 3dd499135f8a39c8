/** zigbee2mqtt's list of devices, its log and its repeated states, with the messages of a real one (test/cases/discovery.json). */
import { describe, expect, test } from "vitest";
import type { DeviceCatalog } from "../catalog.ts";
import type { Plan } from "../model/device.ts";
import { CASES, NOW, newCatalog } from "../testkit/device-cases.ts";

function withDevices(...more: unknown[]): DeviceCatalog {
  const catalog = newCatalog();
  for (const { topic, payload } of CASES.configs) catalog.mqtt.config(topic, JSON.stringify(payload), NOW);
  for (const topic of [
    "zigbee2mqtt/bridge/state",
    ...NAMES.map((name) => `zigbee2mqtt/${name}/availability`),
  ])
    catalog.mqtt.state(topic, '{"state":"online"}', { now: NOW, retained: true });
  const list = JSON.stringify([...CASES.zigbee_devices.payload, ...more]);
  catalog.mqtt.state(CASES.zigbee_devices.topic, list, { now: NOW, retained: true });
  return catalog;
}

const NAMES = ["Living room lamp", "Coffee plug", "Bath radiator", "Garden gate", "Front door lock"];
const PLUG = {
  ieee_address: "0x000b57fffe000102",
  friendly_name: "Coffee plug",
  power_source: "Mains (single phase)",
  definition: {
    exposes: [
      {
        type: "switch",
        features: [
          { property: "state", access: 7 },
          { property: "other", access: 7 },
        ],
      },
      { property: "power_on_behavior", access: 3 },
    ],
  },
};

function plan(catalog: DeviceCatalog, id: string, parameters: Record<string, unknown>, now = NOW): Plan {
  const made = catalog.plan(id, "set", parameters, now);
  if ("error" in made) throw new Error(made.error);
  return made;
}

test("its list of devices and its log are subscribed to", () => {
  const topics = withDevices().mqtt.topics();
  expect(topics.get("zigbee2mqtt/bridge/devices")).toBe(0);
  expect(topics.get("zigbee2mqtt/bridge/logging")).toBe(0);
  expect([...newCatalog().mqtt.topics().keys()]).toEqual(["homeassistant/status"]);
});

test("mains or a battery decide how long to wait", () => {
  const catalog = withDevices(PLUG, { ...PLUG, ieee_address: "0x00158d0000000106", power_source: "Battery" });
  expect(plan(catalog, "living-room-lamp", { on: true }).waitMs).toBe(5_000);
  expect(plan(catalog, "coffee-plug", { on: true }).waitMs).toBe(5_000);
  expect(plan(catalog, "bath-radiator", { mode: "heat" }).waitMs).toBe(15_000);
  expect(plan(catalog, "coffee-machine", { on: true }).waitMs).toBe(15_000);
  expect(plan(withDevices(), "coffee-plug", { on: true }).waitMs).toBe(15_000);
});

test("values that can be read are asked for, among those that entities have", () => {
  const catalog = withDevices(PLUG);
  expect(catalog.asks("living-room-lamp", NOW)).toEqual([
    { topic: "zigbee2mqtt/Living room lamp/get", payload: '{"state":"","brightness":"","color_temp":""}' },
  ]);
  expect(catalog.asks("coffee-plug", NOW)).toEqual([
    { topic: "zigbee2mqtt/Coffee plug/get", payload: '{"state":""}' },
  ]);
  expect(plan(catalog, "coffee-plug", { on: true }).ask).toEqual(catalog.asks("coffee-plug", NOW));
  // One that sleeps on its battery, one of another publisher, and one that is not there.
  for (const id of ["garden-gate", "power-meter", "x"]) expect(catalog.asks(id, NOW), id).toEqual([]);
});

test("nothing is asked below a topic of ours, whatever a list of devices says", () => {
  const evil = newCatalog();
  const config = {
    unique_id: "1",
    command_topic: "a",
    value_template: "{{ value_json.state }}",
    availability: [{ topic: "evoclaw/bridge/state" }, { topic: "z/bridge/state" }],
    origin: { name: "Zigbee2MQTT" },
    device: { identifiers: ["zigbee2mqtt_0x000b57fffe000102"], name: "Plug" },
  };
  evil.mqtt.config("homeassistant/switch/x/config", JSON.stringify(config), NOW);
  evil.mqtt.state("evoclaw/bridge/devices", JSON.stringify([PLUG]), { now: NOW, retained: true });
  expect(evil.asks("plug", NOW)).toEqual([]);
  const wild = { ...PLUG, friendly_name: "+/x" };
  evil.mqtt.state("evoclaw/bridge/devices", "[]", { now: NOW, retained: true });
  evil.mqtt.state("z/bridge/devices", JSON.stringify([wild]), { now: NOW, retained: true });
  expect(evil.asks("plug", NOW)).toEqual([]);
});

describe("its words about a command that failed", () => {
  const failure = JSON.stringify(CASES.zigbee_failure.payload);
  const say = (catalog: DeviceCatalog, payload: string, retained = false) =>
    catalog.mqtt.state(CASES.zigbee_failure.topic, payload, { now: NOW, retained });

  test("are quoted for that device, if they came after the command", () => {
    const catalog = withDevices(PLUG);
    say(catalog, failure);
    const plug = plan(catalog, "coffee-plug", { on: true });
    const lamp = plan(catalog, "living-room-lamp", { on: true });
    const mark = catalog.mark(NOW);
    expect(plug.failure(mark)).toBeUndefined();
    expect(plug.unconfirmed(mark)).toBe("Sent to Coffee plug; it did not answer within 5 s.");
    say(catalog, failure);
    expect(plug.failure(mark)).toBe('Zigbee2MQTT: "no answer (dead)"');
    expect(plug.unconfirmed(mark)).toBe(
      'Sent to Coffee plug; it did not answer. Zigbee2MQTT: "no answer (dead)"',
    );
    expect(plug.confirm?.(mark)).toBeUndefined();
    expect(lamp.failure(mark)).toBeUndefined();
  });

  test.each([
    ["an info line", { ...CASES.zigbee_failure.payload, level: "info" }],
    ["a line about something else", { level: "error", message: "z2m: Coffee plug is on fire" }],
    ["no object", ["x"]],
  ])("%s is none", (_, payload) => {
    const catalog = withDevices(PLUG);
    const plug = plan(catalog, "coffee-plug", { on: true });
    const mark = catalog.mark(NOW);
    say(catalog, JSON.stringify(payload));
    expect(plug.failure(mark)).toBeUndefined();
  });

  test("are one harmless line, and a kept one is old", () => {
    const catalog = withDevices(PLUG);
    const plug = plan(catalog, "coffee-plug", { on: true });
    const mark = catalog.mark(NOW);
    say(catalog, failure, true);
    expect(plug.failure(mark)).toBeUndefined();
    const message = `z2m: Publish 'set' 'state' to 'Coffee plug' failed: 'boom\n\u202e ${"x".repeat(900)}`;
    say(catalog, JSON.stringify({ level: "error", message }));
    const words = plug.failure(mark) ?? "";
    expect(words).toMatch(/^Zigbee2MQTT: "'boom \\u202e x+…"$/);
    expect(words.length).toBeLessThan(230);
  });
});

test.each([
  "0x000d6f0000000107/set",
  "0x000d6f0000000107/1/set",
  "0x000d6f0000000107/1/set/state",
  "Front door lock/set",
  "Front door lock/1/set",
  "Front door lock/left/set/state",
])("a lamp that sends to a lock by its address, its name or a part of it moves the lock: %s", (topic) => {
  const lock = { ...PLUG, ieee_address: "0x000d6f0000000107", friendly_name: "Front door lock" };
  const catalog = withDevices(lock);
  const lamp = { name: "Evil lamp", unique_id: "e", command_topic: `zigbee2mqtt/${topic}` };
  catalog.mqtt.config("homeassistant/switch/evil/config", JSON.stringify(lamp), NOW);
  expect(catalog.device("evil-lamp", NOW)?.actions[1]).toMatchObject({
    danger: true,
    danger_why: "it shares a topic with something else: it is a lock",
  });
});

describe("30 s after Home Assistant's birth it repeats what it remembers", () => {
  const plug = (catalog: DeviceCatalog, payload: string, now: number) =>
    catalog.mqtt.state("zigbee2mqtt/Coffee plug", payload, { now, retained: false });
  const born = (now = NOW) => {
    const catalog = withDevices(PLUG);
    plug(catalog, '{"state":"ON"}', NOW - 60_000);
    catalog.mqtt.state("homeassistant/status", "online", { now, retained: false });
    return catalog;
  };

  test("that is neither fresh nor a confirmation", () => {
    const catalog = born();
    const on = plan(catalog, "coffee-plug", { on: true }, NOW + 29_000);
    const mark = catalog.mark(NOW + 29_000);
    plug(catalog, '{"state":"ON"}', NOW + 30_000);
    expect(on.confirm?.(mark)).toBeUndefined();
    expect(catalog.readings("coffee-plug", NOW)).toMatchObject([{ text: "on", at: NOW - 60_000 }]);
  });

  test("a state that differs is news", () => {
    const catalog = born();
    const off = plan(catalog, "coffee-plug", { on: false }, NOW + 29_000);
    const mark = catalog.mark(NOW + 29_000);
    plug(catalog, '{"state":"OFF"}', NOW + 30_000);
    expect(off.confirm?.(mark)).toBeDefined();
  });

  test("what a bridge hears first has no age", () => {
    const catalog = withDevices(PLUG);
    catalog.mqtt.state("homeassistant/status", "online", { now: NOW, retained: false });
    plug(catalog, '{"state":"ON"}', NOW + 30_000);
    expect(catalog.readings("coffee-plug", NOW + 31_000)).toMatchObject([{ text: "on", at: null }]);
  });

  test("what changed while the bridge was away has no age", () => {
    const before = born();
    const after = newCatalog();
    after.restore(before.dump());
    for (const { topic, payload } of CASES.configs) after.mqtt.config(topic, JSON.stringify(payload), NOW);
    after.mqtt.state("homeassistant/status", "online", { now: NOW, retained: false });
    plug(after, '{"state":"OFF"}', NOW + 30_000);
    expect(after.readings("coffee-plug", NOW + 31_000)).toMatchObject([{ text: "off", at: null }]);
  });

  test("a second birth does not make the first one forgotten", () => {
    const catalog = born();
    catalog.mqtt.state("homeassistant/status", "online", { now: NOW + 10_000, retained: false });
    const on = plan(catalog, "coffee-plug", { on: true }, NOW + 29_000);
    const mark = catalog.mark(NOW + 29_000);
    plug(catalog, '{"state":"ON"}', NOW + 30_000);
    expect(on.confirm?.(mark)).toBeUndefined();
  });

  test("before, long after, and without a birth the same state is a confirmation", () => {
    for (const [birth, at] of [
      [NOW, NOW + 10_000],
      [NOW, NOW + 60_000],
      [NOW - 3_600_000, NOW],
    ] as const) {
      const catalog = born(birth);
      const on = plan(catalog, "coffee-plug", { on: true }, at);
      const mark = catalog.mark(at);
      plug(catalog, '{"state":"ON"}', at + 100);
      expect(on.confirm?.(mark)).toBeDefined();
    }
  });

  test("other publishers are not meant", () => {
    const catalog = born();
    catalog.mqtt.state("homeassistant/switch/sim_coffee_machine/state", "ON", {
      now: NOW + 1_000,
      retained: false,
    });
    const on = plan(catalog, "coffee-machine", { on: true }, NOW + 29_000);
    const mark = catalog.mark(NOW + 29_000);
    catalog.mqtt.state("homeassistant/switch/sim_coffee_machine/state", "ON", {
      now: NOW + 30_000,
      retained: false,
    });
    expect(on.confirm?.(mark)).toBeDefined();
  });
});

test("an event whose template is not read here is read from `action`", () => {
  const catalog = withDevices();
  const say = (action: string) =>
    catalog.mqtt.state("zigbee2mqtt/Sofa remote", JSON.stringify({ action }), { now: NOW, retained: false });
  say("toggle");
  expect(catalog.readings("sofa-remote", NOW)).toMatchObject([
    { text: "last event: toggle", tainted: false },
  ]);
  say("");
  say("free text of a stranger");
  expect(catalog.readings("sofa-remote", NOW)).toMatchObject([{ text: "last event: toggle" }]);
});

test("a list of devices that is rubbish is ignored", () => {
  const catalog = withDevices(PLUG);
  for (const payload of ["x", "{}", "[1,null,{}]", '[{"ieee_address":1,"definition":{"exposes":"x"}}]'])
    catalog.mqtt.state("zigbee2mqtt/bridge/devices", payload, { now: NOW, retained: true });
  expect(catalog.asks("coffee-plug", NOW)).toEqual([]);
});
