/** What a rule knows of a call before it is allowed: what it changes, its danger, its end, and the way back. */
import { describe, expect, test } from "vitest";
import { DeviceCatalog } from "../catalog.ts";

const NOW = Date.parse("2026-11-28T11:00Z");

class House {
  readonly catalog = new DeviceCatalog({
    prefix: "homeassistant",
    ownPrefix: "edgecall",
    sha256: (text) => text.slice(0, 40),
  });

  add(kind: string, name: string, config: object = {}): string {
    const id = name.toLowerCase().replace(/[^a-z]+/g, "-");
    const topics = { command_topic: `${id}/set`, state_topic: id };
    const device = { identifiers: [id], name };
    const text = JSON.stringify({ unique_id: id, name: null, device, ...topics, ...config });
    this.catalog.mqtt.config(`homeassistant/${kind}/${id}/config`, text, NOW);
    return id;
  }

  say(topic: string, text: string): void {
    this.catalog.mqtt.state(topic, new TextEncoder().encode(text), { now: NOW, retained: false });
  }

  of(id: string, action: string, parameters: Record<string, unknown> = {}) {
    const foreseen = this.catalog.foresee(id, action, parameters, NOW);
    if ("error" in foreseen) throw new Error(foreseen.error);
    return foreseen;
  }
}

const ON = { on: true };
const OFF = { on: false };

describe("danger in a rule", () => {
  test.each([
    ["Heater", "heat", undefined],
    ["Umwälzpumpe", "heat", undefined],
    ["Chaudière", "heat", undefined],
    ["Oven", "way_in", undefined],
    ["Bügeleisen", "way_in", undefined],
    ["Gas boiler", "way_in", undefined],
    ["Siren", "noise", undefined],
    ["Alarm", "noise", "way_in"],
    ["Garage", "way_in", "way_in"],
    ["Door opener", "way_in", "way_in"],
    ["Restart router", "way_in", "way_in"],
    ["Garage heater", "way_in", "way_in"],
    ["Lamp", undefined, undefined],
  ] as const)("a switch named %s", (name, on, off) => {
    const house = new House();
    const id = house.add("switch", name);
    const [agent = id] = house.catalog.devices(NOW).map((device) => device.id);
    expect([house.of(agent, "set", ON).danger, house.of(agent, "set", OFF).danger]).toEqual([on, off]);
  });

  test.each([
    ["cover", { device_class: "garage" }, "open", "way_in"],
    ["cover", { device_class: "garage" }, "close", "way_closes"],
    ["cover", { device_class: "blind" }, "close", undefined],
    ["valve", { device_class: "water" }, "open", "heat"],
    ["valve", { device_class: "gas" }, "open", "way_in"],
    ["valve", {}, "open", "way_in"],
    ["valve", { device_class: "gas" }, "close", undefined],
    ["lock", {}, "unlock", "way_in"],
    ["lock", {}, "lock", undefined],
    ["siren", { support_duration: false }, "sound", "noise"],
    ["siren", {}, "stop", undefined],
  ] as const)("%s %j: %s", (kind, config, action, danger) => {
    const house = new House();
    const id = house.add(kind, "Thing", config);
    expect(house.of(id, action).danger).toBe(danger);
  });

  test("a word that an owner named asks", () => {
    const catalog = new DeviceCatalog({
      prefix: "homeassistant",
      ownPrefix: "edgecall",
      sha256: (text) => text,
      dangerText: ["aquarium"],
    });
    const text = JSON.stringify({
      unique_id: "a",
      name: null,
      command_topic: "a/set",
      device: { identifiers: ["a"], name: "Aquarium heater" },
    });
    catalog.mqtt.config("homeassistant/switch/a/config", text, NOW);
    expect(catalog.foresee("aquarium-heater", "set", ON, NOW)).toMatchObject({ danger: "way_in" });
  });
});

describe("ends and ways back", () => {
  test("a light is switched off, and brought back to what it was", () => {
    const house = new House();
    const id = house.add("light", "Lamp", {
      schema: "json",
      brightness: true,
      supported_color_modes: ["brightness"],
    });
    const dim = { brightness_pct: 40 };
    expect(house.of(id, "set", dim)).toMatchObject({
      end: { action: "set", parameters: OFF },
      undo: "unknown",
    });
    house.say("lamp", '{"state":"OFF"}');
    expect(house.of(id, "set", dim).undo).toEqual({ action: "set", parameters: OFF });
    house.say("lamp", '{"state":"ON","brightness":204}');
    expect(house.of(id, "set", dim)).toMatchObject({
      undo: { action: "set", parameters: { brightness_pct: 80 } },
      before: { brightness_pct: { value: 80, unit: "%" } },
      changes: [
        { reading: "brightness", to: 40 },
        { reading: "light", to: true },
      ],
    });
    expect(house.of(id, "set", OFF)).toMatchObject({ isEnd: true, undo: { parameters: ON } });
    expect(house.of(id, "set", OFF).end).toBeUndefined();
  });

  test("a thermostat's aim has a way back and no end; a mode has both", () => {
    const house = new House();
    const id = house.add("climate", "TRV", {
      modes: ["off", "heat"],
      mode_command_topic: "trv/mode/set",
      mode_state_topic: "trv/mode",
      temperature_command_topic: "trv/set",
      temperature_state_topic: "trv/target",
      current_temperature_topic: "trv/now",
    });
    house.say("trv/target", "21");
    house.say("trv/mode", "off");
    house.say("trv/now", "19");
    const aim = house.of(id, "set", { temperature: 17 });
    expect(aim).toMatchObject({
      undo: { action: "set", parameters: { temperature: 21 } },
      units: { temperature: "°C" },
    });
    expect(aim.end).toBeUndefined();
    expect(aim.changes.map(({ reading }) => reading)).toEqual(["target temperature"]);
    expect(house.of(id, "set", { mode: "heat" })).toMatchObject({
      end: { parameters: { mode: "off" } },
      undo: { parameters: { mode: "off" } },
    });
  });

  test("a blind goes back to where it was, and a valve or a heater by a person alone", () => {
    const house = new House();
    const blind = house.add("cover", "Blind", {
      device_class: "blind",
      position_topic: "blind/position",
      set_position_topic: "blind/position/set",
    });
    house.say("blind/position", "30");
    expect(house.of(blind, "close")).toMatchObject({
      undo: { action: "set_position", parameters: { position: 30 } },
    });
    const valve = house.add("valve", "Water", { device_class: "water" });
    house.say("water", "open");
    expect(house.of(valve, "close").undo).toBe("dangerous");
    const heater = house.add("switch", "Heater");
    house.say("heater", "OFF");
    expect(house.of(heater, "set", OFF).undo).toBe("dangerous");
  });

  test("the way back from values before: never to what would need a person", () => {
    const house = new House();
    const lamp = house.add("switch", "Lamp");
    const heater = house.add("switch", "Heater");
    const back = (
      id: string,
      call: { action: string; parameters: Record<string, unknown> },
      before: object,
    ) => house.catalog.undoTo(id, call, before as Record<string, unknown>, NOW);
    const off = { action: "set", parameters: OFF };
    expect(back(lamp, off, { switch: true })).toEqual({ action: "set", parameters: ON });
    expect(back(lamp, off, {})).toBeUndefined();
    expect(back(heater, off, { switch: true })).toBe("dangerous");
    expect(back(heater, off, {})).toBeUndefined();
    expect(back(heater, { action: "set", parameters: ON }, { switch: false })).toEqual(off);
  });
});

test("an unknown action and a wrong parameter are errors, also of a device that is offline", () => {
  const house = new House();
  const id = house.add("switch", "Lamp", { availability_topic: "lamp/online" });
  house.say("lamp/online", "offline");
  expect(house.of(id, "set", ON)).toMatchObject({ isConfirmed: true, undo: "unknown" });
  expect(house.catalog.foresee(id, "fly", {}, NOW)).toEqual({ error: "there is no action 'fly' of lamp" });
  expect(house.catalog.foresee(id, "set", { on: 1 }, NOW)).toEqual({
    error: "on: it has to be true or false",
  });
});
