/** Configs and states that are long: how much of them is taken, in which time, and what is said of the rest. */
import { describe, expect, test } from "vitest";
import { CONFIG_MAX_BYTES, LARGE_STATE_MAX_BYTES, STATE_MAX_BYTES } from "./mqtt/bounds.ts";
import { partOfState } from "./mqtt/states/large-state.ts";
import { NOW, newCatalog, OneDevice } from "./testkit/device-cases.ts";

/** Panels with sensors, in one config of about 90 KB, as taptap-mqtt sends it. */
function solarField(panels: number, sensors: number): string {
  const cmps = Object.fromEntries(
    Array.from({ length: panels * sensors }, (_, at) => {
      const [panel, sensor] = [Math.floor(at / sensors), at % sensors];
      const id = `panel_${panel}_value_${sensor}`;
      const config = {
        p: "sensor",
        name: `Panel ${panel} value ${sensor}`,
        unique_id: `field_${id}`,
        object_id: `field_${id}`,
        state_topic: "field/state",
        availability_topic: "field/up",
        availability_template: "{{ 'online' if value_json.state == 'online' else 'offline' }}",
        device_class: "voltage",
        state_class: "measurement",
        unit_of_measurement: "V",
        value_template: `{{ value_json.nodes.${id} }}`,
      };
      return [id, config];
    }),
  );
  return JSON.stringify({ dev: { ids: ["field"], name: "Solar field" }, o: { name: "taptap" }, cmps });
}

describe("V10: a long config", () => {
  test("V10: one of 24 panels with 8 sensors is a device", () => {
    const config = solarField(24, 8);
    expect(config.length).toBeGreaterThan(70_000);
    const catalog = newCatalog();
    const began = performance.now();
    expect(catalog.mqtt.config("homeassistant/device/field/config", config, NOW)).toBe(true);
    const [field] = catalog.devices(NOW);
    expect(performance.now() - began).toBeLessThan(2_000);
    expect(field).toMatchObject({ id: "solar-field", notOffered: [] });
    catalog.mqtt.state("field/up", '{"state":"online"}', { now: NOW, retained: true });
    catalog.mqtt.state("field/state", '{"nodes":{"panel_23_value_7":31.5}}', { now: NOW, retained: false });
    expect(catalog.readings("solar-field", NOW)).toHaveLength(192);
    const words = catalog.read("solar-field", { names: ["Panel 23 value 7"] }, NOW);
    expect(words).toMatchObject({ text: "Panel 23 value 7: 31.5 V (0 s ago)" });
  });

  test("V10: at most 256 KB each, and 16 MB together", () => {
    const catalog = newCatalog();
    const add = (id: number, size: number) => {
      const config = { unique_id: `e${id}`, state_topic: "s", icon: "x".repeat(size) };
      return catalog.mqtt.config(`homeassistant/sensor/e${id}/config`, JSON.stringify(config), NOW);
    };
    expect(add(0, CONFIG_MAX_BYTES)).toBe(false);
    for (let id = 1; id <= 80; id += 1) add(id, CONFIG_MAX_BYTES - 1_000);
    const { configs, ignored } = catalog.counts();
    expect(configs).toBe(64);
    expect(ignored).toEqual([
      { why: "the config has more than 256 KB", count: 1 },
      { why: "the configs have more than 16 MB together", count: 16 },
    ]);
    // What goes makes room.
    catalog.mqtt.config("homeassistant/sensor/e1/config", "", NOW);
    expect(add(80, CONFIG_MAX_BYTES - 1_000)).toBe(true);
  });
});

/** As zigbee2mqtt 2.6 sends it in a home of many devices: settings and their schema stand behind what its device tells. */
function bridgeInfo(devices: number): string {
  const settings = Object.fromEntries(
    Array.from({ length: devices }, (_, at) => [
      `0x00158d00000${1_000 + at}`,
      { friendly_name: `Room ${at} "device" \\ {[`, description: "" },
    ]),
  );
  return JSON.stringify({
    version: "2.6.2",
    coordinator: { type: "zStack3x0", meta: { revision: 20_240_710 } },
    log_level: "info",
    permit_join: false,
    config: { devices: settings },
    config_schema: { type: "object", properties: settings },
    restart_required: true,
  });
}

describe("V10: a long state", () => {
  const bridge = (more: Record<string, unknown>) =>
    new OneDevice()
      .add(
        "sensor",
        { state_topic: "z/bridge/info", value_template: "{{ value_json.version }}", name: "Version" },
        "v",
      )
      .add(
        "sensor",
        {
          state_topic: "z/bridge/info",
          value_template: "{{ value_json.coordinator.meta.revision }}",
          name: "Coordinator",
          entity_category: "diagnostic",
        },
        "c",
      )
      .add(
        "binary_sensor",
        {
          state_topic: "z/bridge/info",
          value_template: "{{ value_json.restart_required }}",
          payload_on: true,
          payload_off: false,
          name: "Restart required",
          ...more,
        },
        "r",
      );

  test("V10: zigbee2mqtt's bridge/info is read in part, with what its entities name", () => {
    const info = bridgeInfo(400);
    expect(info.length).toBeGreaterThan(4 * STATE_MAX_BYTES);
    const one = bridge({}).say("z/bridge/info", info, true);
    expect(one.words(true)).toEqual({ Version: "2.6.2", "Restart required": "on", Coordinator: "20240710" });
    expect(one.device.notOffered).toEqual([]);
    expect(one.catalog.counts().ignored).toEqual([]);
    // It is kept for the next start, and not as a whole.
    expect(one.catalog.dump().states[0]?.payload.length).toBeLessThan(STATE_MAX_BYTES);
  });

  test("V10: a part that an entity names and that is too long is said on the device, until it fits", () => {
    const one = bridge({ value_template: "{{ value_json.config.devices | length > 3 }}" });
    one.say("z/bridge/info", bridgeInfo(400));
    const left = {
      what: "Restart required",
      why: expect.stringMatching(/^its state has \d+ KB, of which this is left out$/),
    };
    expect(one.device.notOffered).toEqual([left]);
    expect(one.catalog.read("thing", {}, one.now)).toMatchObject({
      text: expect.stringMatching(
        /\nRestart required: not read: its state has \d+ KB, of which this is left out$/,
      ),
    });
    one.say("z/bridge/info", bridgeInfo(4));
    expect(one.device.notOffered).toEqual([]);
  });

  test("V10: one that is no JSON object, or far too long, is said on the device", () => {
    const one = new OneDevice().add("sensor", { state_topic: "s", name: "Log" });
    one.say("s", "x".repeat(STATE_MAX_BYTES + 1));
    expect(one.device.notOffered).toEqual([{ what: "Log", why: "a state has more than 16 KB" }]);
    one.say("s", "x".repeat(LARGE_STATE_MAX_BYTES + 1));
    expect(one.device.notOffered).toEqual([{ what: "Log", why: "a state has more than 1024 KB" }]);
    one.say("s", "short");
    expect(one.device.notOffered).toEqual([]);
    expect(one.words()).toEqual({ Log: "short" });
  });

  test("V10: the time is linear in the length", () => {
    const time = (text: string) => {
      const began = performance.now();
      for (let n = 0; n < 5; n += 1) partOfState(text, new Set(["z"]), STATE_MAX_BYTES);
      return performance.now() - began;
    };
    const hostile = [
      (n: number) => `{"a":"${"\\\\".repeat(n)}"}`,
      (n: number) => `{"a":${"[".repeat(n)}`,
      (n: number) => `{${'"a":{},'.repeat(n)}`,
      (n: number) => `{"a":"${'\\"'.repeat(n)}`,
      (n: number) => `{${" ".repeat(n)}`,
    ];
    for (const make of hostile) {
      time(make(10_000));
      const [short, long] = [time(make(20_000)), time(make(160_000))];
      expect(long).toBeLessThan(Math.max(8 * 6 * short, 250));
    }
  });

  test.each([
    ['{"a":1}', { text: '{"a":1}', dropped: [] }],
    [' { "a" : "x\\"}" , "b":[1,{"c":2}] } ', { text: '{"a":"x\\"}","b":[1,{"c":2}]}', dropped: [] }],
    ["{}", { text: "{}", dropped: [] }],
    ["[1]", undefined],
    ['{"a":1', undefined],
    ['{"a":}', undefined],
    ['{"a":1}x', undefined],
    ['{"a":"', undefined],
    [`{"z":1,"a":"${"x".repeat(2_000)}"}`, { text: '{"z":1}', dropped: ["a"] }],
  ])("V10: the part of %s", (text, part) => {
    expect(partOfState(text, new Set(["z"]), 10_000)).toEqual(part);
  });
});
