/** Tasmota's own discovery. The messages have the form that its documentation and devices of version 14 show. */
import { describe, expect, test } from "vitest";
import type { DeviceCatalog } from "../../catalog.ts";
import { NOW, newCatalog, published } from "../../testkit/device-cases.ts";

const MAC = "A0B1C2D3E4F5";
const PLUG = {
  ip: "192.168.1.9",
  dn: "Tasmota plug",
  fn: ["Desk plug", null, null],
  hn: "tasmota-1",
  mac: MAC,
  md: "Gosund SP111",
  ofln: "Offline",
  onln: "Online",
  state: ["OFF", "ON", "TOGGLE", "HOLD"],
  sw: "14.2.0",
  t: "tasmota_1",
  ft: "%prefix%/%topic%/",
  tp: ["cmnd", "stat", "tele"],
  rl: [1, 0, 0],
  so: { 4: 0, 17: 0, 20: 0, 30: 0, 68: 0, 82: 0 },
  lk: 1,
  lt_st: 0,
  ver: 1,
};
const ENERGY = {
  sn: {
    Time: "2024-10-01T10:00:00",
    ENERGY: {
      TotalStartTime: "2023-01-01T00:00:00",
      Total: 12.345,
      Today: 0.2,
      Power: 31,
      Factor: 0.9,
      Voltage: 231,
      Current: 0.15,
    },
  },
  ver: 1,
};

class Played {
  readonly catalog: DeviceCatalog = newCatalog();
  now = NOW;

  config(payload: object | "", part = "config", mac = MAC): this {
    this.catalog.mqtt.config(
      `tasmota/discovery/${mac}/${part}`,
      payload === "" ? "" : JSON.stringify(payload),
      this.now,
    );
    return this;
  }

  say(topic: string, payload: object | string): this {
    const text = typeof payload === "string" ? payload : JSON.stringify(payload);
    this.catalog.mqtt.state(topic, text, { now: this.now, retained: false });
    return this;
  }

  words(id: string, all = false): Record<string, string> {
    return Object.fromEntries(this.catalog.readings(id, this.now, all).map(({ name, text }) => [name, text]));
  }

  /** @returns what is sent, and whether the last message confirms it */
  change(id: string, parameters: object, ...answers: (readonly [string, object])[]): [string[], boolean] {
    const plan = this.catalog.plan(id, "set", { ...parameters }, this.now);
    if ("error" in plan) throw new Error(plan.error);
    const mark = this.catalog.mark(this.now);
    this.now += 1_000;
    for (const [topic, payload] of answers) this.say(topic, payload);
    return [
      published(plan).map(({ topic, payload }) => `${topic} ${payload}`),
      plan.confirm?.(mark) !== undefined,
    ];
  }
}

describe("V17: Tasmota's own discovery", () => {
  test("V17: a plug is switched, and says by RESULT and STATE that it is on", () => {
    const one = new Played().config(PLUG);
    expect(one.catalog.mqtt.topics()).toEqual(
      new Map(
        ["homeassistant/status", "stat/tasmota_1/RESULT", "tele/tasmota_1/STATE", "tele/tasmota_1/LWT"].map(
          (topic) => [topic, 0],
        ),
      ),
    );
    expect(one.catalog.devices(NOW)).toMatchObject([
      {
        id: "tasmota-plug",
        name: "Tasmota plug",
        model: "Tasmota Gosund SP111",
        publisher: "Tasmota",
        online: false,
        kinds: ["switch"],
        notOffered: [],
      },
    ]);
    one.say("tele/tasmota_1/LWT", "Online").say("tele/tasmota_1/STATE", { POWER: "OFF", Wifi: { RSSI: 80 } });
    expect(one.words("tasmota-plug")).toEqual({ "Desk plug": "off" });
    expect(one.change("tasmota-plug", { on: true }, ["stat/tasmota_1/RESULT", { POWER: "ON" }])).toEqual([
      ["cmnd/tasmota_1/POWER1 ON"],
      true,
    ]);
    one.say("stat/tasmota_1/RESULT", { Dimmer: 3 });
    expect(one.words("tasmota-plug")).toEqual({ "Desk plug": "on" });
    expect(one.catalog.asks("tasmota-plug", one.now)).toEqual([
      { topic: "cmnd/tasmota_1/STATE", payload: "" },
      { topic: "cmnd/tasmota_1/STATUS", payload: "10" },
    ]);
    one.say("tele/tasmota_1/LWT", "Offline");
    expect(one.catalog.device("tasmota-plug", one.now)?.online).toBe(false);
  });

  test("V17: the example of the row, with the keys that it has", () => {
    const { ip, dn, mac, sw, t, ft, tp, ver } = PLUG;
    const one = new Played().config({ ip, dn, fn: ["Desk plug", null], mac, sw, t, ft, tp, rl: [1, 0], ver });
    one.say("tele/tasmota_1/LWT", "Online").say("stat/tasmota_1/RESULT", { POWER: "ON" });
    expect(one.words("tasmota-plug")).toEqual({ "Desk plug": "on" });
  });

  test.each([["before"], ["after"]])("V17: what it measures comes %s its config", (when) => {
    const one = new Played();
    if (when === "before") one.config(ENERGY, "sensors").config(PLUG);
    else one.config(PLUG).config(ENERGY, "sensors");
    one.say("tele/tasmota_1/LWT", "Online");
    one.say("tele/tasmota_1/SENSOR", {
      Time: "2024-10-01T10:05:00",
      ENERGY: { ...ENERGY.sn.ENERGY, Power: 42, Voltage: 230 },
    });
    expect(one.words("tasmota-plug", true)).toEqual({
      "Desk plug": "not reported yet",
      "ENERGY Total": "12.345 kWh",
      "ENERGY Today": "0.2 kWh",
      "ENERGY Power": "42 W",
      "ENERGY Factor": "0.9",
      "ENERGY Voltage": "230 V",
      "ENERGY Current": "0.15 A",
      "ENERGY TotalStartTime": "2023-01-01T00:00:00",
    });
    // The answer to STATUS 10, and a message that has other members.
    one.say("stat/tasmota_1/STATUS10", { StatusSNS: { ENERGY: { Power: 7 } } });
    one.say("tele/tasmota_1/SENSOR", { ZbReceived: {} });
    expect(one.words("tasmota-plug")).toMatchObject({ "ENERGY Power": "7 W", "ENERGY Voltage": "230 V" });
    one.config("", "sensors");
    expect(Object.keys(one.words("tasmota-plug"))).toEqual(["Desk plug"]);
  });

  test("V17: sensors have the units that the device is set to, lists have numbers, and switches are on or off", () => {
    const sn = {
      Time: "x",
      Switch1: "OFF",
      DS18B20: { Id: "3C01", Temperature: 20.1 },
      BME280: { Temperature: 68.2, Humidity: 40, Pressure: 751 },
      ENERGY: { TotalTariff: [1, 2] },
      TempUnit: "F",
      PressureUnit: "mmHg",
    };
    const one = new Played().config({ ...PLUG, rl: [0] }).config({ sn, ver: 1 }, "sensors");
    one.say("tele/tasmota_1/LWT", "Online").say("tele/tasmota_1/SENSOR", { ...sn, Switch1: "ON" });
    expect(one.words("tasmota-plug")).toEqual({
      Switch1: "on",
      "DS18B20 Temperature": "20.1 °F",
      "BME280 Temperature": "68.2 °F",
      "BME280 Humidity": "40 %",
      "BME280 Pressure": "751 mmHg",
      "ENERGY TotalTariff 1": "1 kWh",
      "ENERGY TotalTariff 2": "2 kWh",
    });
  });

  test("V17: relays have their own names, topics and words", () => {
    const one = new Played().config({
      ...PLUG,
      fn: ["Left", "Garage door"],
      rl: [1, 1],
      ft: "home/%topic%/%prefix%/%id%",
      tp: ["c", "s", "t"],
      state: ["aus", "an"],
    });
    one.say("home/tasmota_1/t/D3E4F5/LWT", "Online");
    one.say("home/tasmota_1/s/D3E4F5/RESULT", { POWER2: "an" });
    expect(one.words("tasmota-plug")).toEqual({ Left: "not reported yet", "Garage door": "on" });
    const [device] = one.catalog.devices(NOW);
    expect(device?.actions.map(({ name, danger }) => [name, danger])).toEqual([
      ["read", undefined],
      ["set_left", undefined],
      ["set_garage_door", true],
    ]);
    const plan = one.catalog.plan("tasmota-plug", "set_left", { on: false }, NOW);
    expect("steps" in plan && plan.steps).toMatchObject([
      { topic: "home/tasmota_1/c/D3E4F5/POWER1", payload: "aus" },
    ]);
  });

  test.each([
    ["a dimmer", { lt_st: 1 }, ["brightness_pct"]],
    ["white of two temperatures", { lt_st: 2 }, ["brightness_pct", "kelvin"]],
    ["colours", { lt_st: 3 }, ["brightness_pct", "rgb"]],
    ["colours and white of two temperatures", { lt_st: 5 }, ["brightness_pct", "kelvin", "rgb"]],
    ["a relay that is a light", { rl: [1], so: { 30: 1 } }, []],
  ])("V17: a light with %s", (_, more, can) => {
    const one = new Played().config({ ...PLUG, rl: [2], ...more });
    const set = one.catalog.devices(NOW)[0]?.actions.find(({ name }) => name === "set");
    const { properties } = (set?.parameters ?? {}) as { properties: Record<string, unknown> };
    expect(one.catalog.devices(NOW)[0]?.kinds).toEqual(["light"]);
    expect(Object.keys(properties).sort()).toEqual(["on", ...can].sort());
  });

  test("V17: a light of colours is set and read", () => {
    const one = new Played().config({ ...PLUG, rl: [2], lt_st: 5 });
    one.say("tele/tasmota_1/LWT", "Online");
    const result = "stat/tasmota_1/RESULT";
    one.say("tele/tasmota_1/STATE", {
      POWER: "ON",
      Dimmer: 40,
      Color: "660000FF00",
      HSBColor: "0,100,40",
      CT: 333,
    });
    expect(one.words("tasmota-plug")).toMatchObject({ "Desk plug": "on", "Desk plug brightness": "40 %" });
    expect(
      one.change("tasmota-plug", { brightness_pct: 60 }, [
        result,
        { POWER: "ON", Dimmer: 60, HSBColor: "0,100,60" },
      ]),
    ).toEqual([["cmnd/tasmota_1/Dimmer 60", "cmnd/tasmota_1/POWER1 ON"], true]);
    expect(one.change("tasmota-plug", { kelvin: 2_700 }, [result, { POWER: "ON", CT: 370 }])).toEqual([
      ["cmnd/tasmota_1/CT 370", "cmnd/tasmota_1/POWER1 ON"],
      true,
    ]);
    expect(
      one.change("tasmota-plug", { rgb: [0, 255, 0] }, [result, { POWER: "ON", HSBColor: "120,100,60" }]),
    ).toEqual([["cmnd/tasmota_1/Backlog HSBColor1 120;HSBColor2 100", "cmnd/tasmota_1/POWER1 ON"], true]);
  });

  test("V17: two relays of a shutter are a cover", () => {
    const one = new Played().config({ ...PLUG, rl: [3, 3] });
    one.say("tele/tasmota_1/LWT", "Online");
    one.say("stat/tasmota_1/RESULT", { Shutter1: { Position: 30, Direction: 0, Target: 30 } });
    expect(one.words("tasmota-plug")).toEqual({ cover: "30 %" });
    const sent = (action: string, parameters = {}) => {
      const plan = one.catalog.plan("tasmota-plug", action, parameters, NOW);
      return "error" in plan
        ? plan.error
        : published(plan).map(({ topic, payload }) => `${topic} ${payload}`);
    };
    expect(sent("open")).toEqual(["cmnd/tasmota_1/Backlog ShutterOpen1"]);
    expect(sent("set_position", { position: 70 })).toEqual(["cmnd/tasmota_1/ShutterPosition1 70"]);
  });

  test("V17: beside Tasmota's older discovery each part is there once, and one device", () => {
    const older = {
      name: "Desk plug",
      cmd_t: "~cmnd/POWER",
      stat_t: "~tele/STATE",
      val_tpl: "{{value_json.POWER}}",
      uniq_id: "D3E4F5_RL_1",
      device: { identifiers: ["D3E4F5"], connections: [["mac", "A0:B1:C2:D3:E4:F5"]], name: "Tasmota plug" },
      "~": "tasmota_1/",
    };
    const one = new Played().config(PLUG).config(ENERGY, "sensors");
    one.catalog.mqtt.config("homeassistant/switch/D3E4F5_RL_1/config", JSON.stringify(older), NOW);
    const devices = one.catalog.devices(NOW);
    expect(devices).toHaveLength(1);
    expect(devices[0]?.actions.map(({ name }) => name)).toEqual(["read", "set"]);
    expect(devices[0]?.kinds).toEqual(["switch", "sensor"]);
  });

  test("V17: one that sleeps is not offline for that", () => {
    const one = new Played().config({ ...PLUG, rl: [0], dslp: 600 });
    one.config({ sn: { DS18B20: { Temperature: 1 }, TempUnit: "C" }, ver: 1 }, "sensors");
    one.say("tele/tasmota_1/LWT", "Offline").say("tele/tasmota_1/SENSOR", { DS18B20: { Temperature: 4.5 } });
    expect(one.catalog.devices(one.now)).toMatchObject([{ online: true }]);
    expect(one.words("tasmota-plug")).toEqual({ "DS18B20 Temperature": "4.5 °C" });
  });

  test("V17: one that is removed is gone", () => {
    const one = new Played().config(PLUG).config(ENERGY, "sensors").config("");
    expect(one.catalog.devices(NOW)).toEqual([]);
    expect([...one.catalog.mqtt.topics().keys()]).toEqual(["homeassistant/status"]);
  });

  test.each([
    ["no JSON", "{", "the config of a Tasmota device is no JSON object"],
    ["another version", { ...PLUG, ver: 2 }, "the config of a Tasmota device has an unknown version"],
    [
      "another mac",
      { ...PLUG, mac: "000000000000" },
      "the config of a Tasmota device has another mac than its topic",
    ],
    ["no topic", { ...PLUG, t: undefined }, "the config of a Tasmota device has no t (its topic)"],
    [
      "no prefix",
      { ...PLUG, ft: "x" },
      "the config of a Tasmota device has no ft (its full topic) with %prefix%",
    ],
    [
      "two prefixes",
      { ...PLUG, tp: ["a", "b"] },
      "the config of a Tasmota device has no tp (three prefixes)",
    ],
    [
      "relays that are no list",
      { ...PLUG, rl: 1 },
      "the config of a Tasmota device has an rl that is no list",
    ],
    ["a long message", { ...PLUG, x: "x".repeat(20_000) }, "the message of a Tasmota device is too long"],
  ])("V17: %s is counted with its reason", (_, payload, why) => {
    const catalog = newCatalog();
    catalog.mqtt.config(
      `tasmota/discovery/${MAC}/config`,
      typeof payload === "string" ? payload : JSON.stringify(payload),
      NOW,
    );
    expect(catalog.devices(NOW)).toEqual([]);
    expect(catalog.counts().ignored).toEqual([{ why, count: 1 }]);
  });

  test("V17: topics of our own agents and of configs are not sent to", () => {
    const one = new Played().config({
      ...PLUG,
      ft: "%prefix%/agents/%topic%/",
      tp: ["evoclaw", "evoclaw", "evoclaw"],
    });
    expect([...one.catalog.mqtt.topics().keys()]).toEqual(["homeassistant/status"]);
    expect(one.catalog.devices(NOW)[0]?.actions.map(({ name }) => name)).toEqual(["read"]);
  });
});
