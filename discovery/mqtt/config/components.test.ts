import { describe, expect, test } from "vitest";
import { type Component, readConfigMessage } from "./components.ts";
import { configTopics, parseConfigTopic } from "./config-topic.ts";

const TOPIC = "homeassistant/switch/plug/config";

function read(config: unknown, kind = "switch"): Component[] {
  const payload = typeof config === "string" ? config : JSON.stringify(config);
  const message = readConfigMessage({ kind, object: "plug" }, TOPIC, payload);
  if (message.type !== "components") throw new Error(JSON.stringify(message));
  return message.components;
}

function only(config: unknown, kind?: string): Component {
  const [component, ...others] = read(config, kind);
  if (!component || others.length > 0) throw new Error("there is not exactly one");
  return component;
}

describe("topics", () => {
  test.each([
    ["homeassistant/switch/plug/config", { kind: "switch", object: "plug" }],
    ["homeassistant/light/0x0017/light/config", { kind: "light", node: "0x0017", object: "light" }],
    ["homeassistant/device/pump-4a/config", { kind: "device", object: "pump-4a" }],
    ["homeassistant/device/well/pump/config", { kind: "device", node: "well", object: "pump" }],
    // Publishers keep states below the same prefix.
    ["homeassistant/switch/plug/state", undefined],
    ["homeassistant/device/boiler-room-9/br9_light/state/power", undefined],
    ["homeassistant/status", undefined],
    ["homeassistant/switch/config", undefined],
    ["homeassistant/a/b/c/d/config", undefined],
    ["homeassistant/switch/pl ug/config", undefined],
    ["homeassistant/swi-tch/plug/config", undefined],
    ["homeassistant/switch/plug/config/x", undefined],
    ["other/switch/plug/config", undefined],
    ["homeassistant2/switch/plug/config", undefined],
  ])("%s", (topic, parsed) => {
    expect(parseConfigTopic("homeassistant", topic)).toEqual(parsed);
  });

  test("two wildcards bring all forms, with any prefix", () => {
    expect(configTopics("ha/x")).toEqual(["ha/x/+/+/config", "ha/x/+/+/+/config"]);
    expect(parseConfigTopic("ha/x", "ha/x/switch/plug/config")).toEqual({ kind: "switch", object: "plug" });
  });
});

describe("short names", () => {
  test("of an entity, its availability, its device and its origin", () => {
    const { config, device, origin } = only({
      uniq_id: "1",
      cmd_t: "a",
      stat_t: "s",
      val_tpl: "{{ value }}",
      avty: [{ t: "up", val_tpl: "{{ value_json.s }}", pl_avail: "yes" }],
      dev: { ids: ["x"], mf: "Own make", mdl: "M1", sw: "2", sa: "Hall", cns: [["mac", "02:5B"]] },
      o: { name: "box", sw: "3", url: "http://x" },
    });
    expect(config).toMatchObject({
      unique_id: "1",
      command_topic: "a",
      state_topic: "s",
      value_template: "{{ value }}",
      availability: [{ topic: "up", value_template: "{{ value_json.s }}", payload_available: "yes" }],
      origin: { name: "box", sw_version: "3", support_url: "http://x" },
    });
    expect(device).toEqual({
      identities: ["id x", "mac 02:5b"],
      manufacturer: "Own make",
      model: "M1",
      area: "Hall",
    });
    expect(origin).toBe("box");
  });

  test("identifiers as one text, and availability as one object", () => {
    const { device, config } = only({ dev: { ids: "box-7" }, avty: { t: "up" } });
    expect(device.identities).toEqual(["id box-7"]);
    expect(config.availability).toEqual({ topic: "up" });
  });

  test("an entity without a device is a device of its own", () => {
    expect(only({ uniq_id: "7" }).device.identities).toEqual(["entity switch id 7"]);
    expect(only({ cmd_t: "a" }).device.identities).toEqual([`entity switch at ${TOPIC}`]);
  });
});

test("the base topic stands first or last in a topic, and nowhere else", () => {
  const { config } = only({
    "~": "well/4a",
    cmd_t: "~/set",
    stat_t: "run/~",
    json_attr_t: "a/~/b",
    name: "~",
    pl_on: "~/on",
    val_tpl: "~{{ value }}~",
    avty: [{ t: "~/up" }],
  });
  expect(config).toMatchObject({
    command_topic: "well/4a/set",
    state_topic: "run/well/4a",
    json_attributes_topic: "a/~/b",
    name: "~",
    payload_on: "~/on",
    value_template: "~{{ value }}~",
    availability: [{ topic: "well/4a/up" }],
  });
});

describe("the config of a whole device", () => {
  const PUMP = {
    dev: { ids: ["pump-4a"], name: "Well pump", sa: "Garden" },
    o: { name: "wellbox" },
    avty: [{ t: "well/4a/up" }],
    "~": "well/4a",
    qos: 1,
    cmps: {
      run: { p: "switch", uniq_id: "4a_run", name: "Pump", stat_t: "~/run", cmd_t: "~/run/set" },
      bar: { p: "sensor", uniq_id: "4a_bar", stat_t: "~/bar", qos: 0, avty: [{ t: "own/up" }] },
      gone: { p: "sensor" },
    },
  };

  test("has components, which inherit what they do not have", () => {
    const [run, bar, ...others] = read(PUMP, "device");
    expect(others).toEqual([]);
    expect(run).toMatchObject({
      kind: "switch",
      unique: "id 4a_run",
      origin: "wellbox",
      device: { identities: ["id pump-4a"], name: "Well pump", area: "Garden" },
      config: {
        state_topic: "well/4a/run",
        command_topic: "well/4a/run/set",
        availability: [{ topic: "well/4a/up" }],
        qos: 1,
      },
    });
    expect(bar).toMatchObject({ kind: "sensor", config: { qos: 0, availability: [{ topic: "own/up" }] } });
  });

  test("the parts of a child device belong to it, under the child's name", () => {
    const [, , child] = read(
      {
        ...PUMP,
        cdevs: [{ ids: ["float"], name: "Float", cmps: { f: { p: "sensor", uniq_id: "f", stat_t: "f" } } }],
      },
      "device",
    );
    expect(child).toMatchObject({
      kind: "sensor",
      device: { identities: ["id pump-4a", "id float"], name: "Well pump", part: "Float" },
    });
    const alone = only({ uniq_id: "g", dev: { ids: ["pump-4a"], cdev: { ids: "left", name: "Left" } } });
    expect(alone.device).toMatchObject({ identities: ["id pump-4a", "id left"], part: "Left" });
  });

  test.each([
    [{ dev: { ids: ["a"] } }, "the config of a device has no components"],
    [{ cmps: {} }, "the config of a device has no identifiers"],
  ])("%j is refused", (config, why) => {
    const message = readConfigMessage({ kind: "device", object: "x" }, TOPIC, JSON.stringify(config));
    expect(message).toEqual({ type: "refused", why });
  });
});

test.each<[string, unknown]>([
  ["", { type: "removed" }],
  ["  ", { type: "removed" }],
  ['{"migrate_discovery": true}', { type: "migrating" }],
  ['{"migr_discvry": true}', { type: "migrating" }],
  ["{", { type: "refused", why: "the config is not JSON" }],
  ["[]", { type: "refused", why: "the config is no JSON object" }],
  ['"x"', { type: "refused", why: "the config is no JSON object" }],
  [`{"a":${"[".repeat(200)}${"]".repeat(200)}}`, { type: "refused", why: "the config is no JSON object" }],
])("the message %s", (payload, message) => {
  expect(readConfigMessage({ kind: "switch", object: "x" }, TOPIC, payload)).toEqual(message);
});

test("a config cannot reach what objects inherit", () => {
  const { config, device } = only(
    '{"__proto__":{"command_topic":"x"},"constructor":{"a":1},"dev":{"__proto__":{"name":"x"},"ids":["a"]}}',
  );
  expect(config.command_topic).toBeUndefined();
  expect(device.name).toBeUndefined();
});

test("one device has a bounded number of identifiers", () => {
  const ids = Array.from({ length: 1_000 }, (_, at) => `id-${at}`);
  expect(only({ dev: { ids: [...ids, "x".repeat(500)] } }).device.identities).toHaveLength(16);
});
