/** Settings of devices: `entity_category: config`. */
import { describe, expect, test } from "vitest";
import { OneDevice } from "./testkit/device-cases.ts";

const LIMIT = {
  name: "Max ampere",
  state_topic: "ama",
  command_topic: "ama/set",
  unit_of_measurement: "A",
  entity_category: "config",
  min: 6,
  max: 16,
};

describe("V9: a setting", () => {
  test("V9: is an action that asks each time, and says that it is a setting", () => {
    const one = new OneDevice().add("number", LIMIT).say("ama", "16");
    expect(one.device.settings).toMatchObject([
      { name: "set", setting: true, danger: true, danger_why: "it is a setting of the device" },
    ]);
    expect(one.device.notOffered).toEqual([{ what: "Max ampere", why: "it is a setting of the device" }]);
    expect(one.words(true)).toEqual({ "Max ampere": "16 A" });
    expect(one.sent("set", { value: 10 })).toEqual(["ama/set 10"]);
    expect(one.refusal("set", { value: 17 })).toMatch(/value/);
    expect(one.confirmedBy("set", { value: 10 }, ["ama", "10"])).toMatch(/10 A/);
  });

  test("V9: takes no name of another action", () => {
    const pump = { name: "Pump", command_topic: "pump/set", state_topic: "pump" };
    const plain = new OneDevice().add("switch", pump, "pump");
    const both = new OneDevice().add("switch", pump, "pump").add("number", LIMIT, "limit");
    const names = ({ device }: OneDevice) =>
      [...device.actions, ...(device.settings ?? [])].map(({ name, setting }) => [name, setting === true]);
    expect(names(plain)).toEqual([
      ["read", false],
      ["set", false],
    ]);
    expect(names(both)).toEqual([
      ["read", false],
      ["set", false],
      ["set_max_ampere", true],
    ]);
  });

  test("V9: is covered by the hash, so a call that waits for a person sends what the person saw", () => {
    const hash = (more: object) => new OneDevice().add("number", { ...LIMIT, ...more }).device.allowHash;
    expect(hash({ command_topic: "other/set" })).not.toBe(hash({}));
    expect(hash({ max: 32 })).not.toBe(hash({}));
    expect(hash({ icon: "mdi:flash" })).toBe(hash({}));
  });

  test("V9: keeps its own reason where it is dangerous in itself", () => {
    const one = new OneDevice().add("switch", { ...LIMIT, name: "Garage door", device_class: "outlet" });
    expect(one.device.settings?.[0]).toMatchObject({
      setting: true,
      danger: true,
      danger_why: expect.any(String),
    });
    expect(one.device.settings?.[0]?.danger_why).not.toBe("it is a setting of the device");
  });

  test("V9: what is diagnostic or disabled by default stays without an action", () => {
    const one = new OneDevice()
      .add("number", { ...LIMIT, entity_category: "diagnostic" }, "a")
      .add("switch", { command_topic: "c", name: "B", enabled_by_default: false }, "b");
    expect(one.device.actions.map(({ name }) => name)).toEqual(["read"]);
    expect(one.device.settings).toBeUndefined();
  });
});
