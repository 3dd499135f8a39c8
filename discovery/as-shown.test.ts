/** What is told of a device is what Home Assistant shows of it. */
import { describe, expect, test } from "vitest";
import { NOW, newCatalog, OneDevice } from "./testkit/device-cases.ts";

type Said = [topic: string, payload: unknown];

describe("V18: a light", () => {
  const strip = {
    schema: "json",
    command_topic: "c",
    state_topic: "s",
    supported_color_modes: ["rgb", "color_temp"],
    brightness: true,
    brightness_scale: 100,
  };
  const red = { state: "ON", color_mode: "rgb", color: { r: 255, g: 0, b: 0 }, brightness: 80 };

  test("V18: in white has no colour, and in a colour no colour temperature", () => {
    const one = new OneDevice().add("light", strip).say("s", red);
    expect(one.words()).toEqual({
      light: "on",
      brightness: "80 %",
      colour: "rgb 255, 0, 0",
    });
    one.say("s", {
      state: "ON",
      color_mode: "color_temp",
      color_temp: 333,
      color: { r: 255, g: 180, b: 107 },
    });
    expect(one.words()).toEqual({ light: "on", brightness: "80 %", "colour temperature": "3003 K" });
    one.say("s", { ...red, color_temp: 333 });
    expect(one.words()).toEqual({ light: "on", brightness: "80 %", colour: "rgb 255, 0, 0" });
  });

  test("V18: that does not tell its mode is in that of the value that it tells", () => {
    const one = new OneDevice().add("light", strip).say("s", { state: "ON", color: { r: 1, g: 2, b: 3 } });
    one.say("s", { state: "ON", color_temp: 333 });
    expect(Object.keys(one.words())).toEqual(["light", "brightness", "colour temperature"]);
    // What says nothing of it changes nothing.
    one.say("s", { state: "ON", brightness: 20 });
    expect(one.words()).toEqual({ light: "on", brightness: "20 %", "colour temperature": "3003 K" });
  });

  test("V18: that is set to white is confirmed by its white", () => {
    const one = new OneDevice().add("light", strip).say("s", red);
    expect(
      one.confirmedBy("set", { kelvin: 3_003 }, [
        "s",
        { state: "ON", color_mode: "color_temp", color_temp: 333 },
      ]),
    ).toContain("3003 K");
    expect(one.confirmedBy("set", { rgb: [255, 0, 0] }, ["s", red])).toContain("rgb 255, 0, 0");
  });

  test.each<[string, object, Said, Said]>([
    ["json", strip, ["s", { state: "OFF", brightness: 80 }], ["s", { state: "ON" }]],
    [
      "basic",
      {
        command_topic: "c",
        state_topic: "s",
        brightness_command_topic: "b/set",
        brightness_state_topic: "b",
        brightness_scale: 100,
      },
      ["s", "OFF"],
      ["s", "ON"],
    ],
  ])("V18: that is off has no brightness (%s)", (_, config, off, on) => {
    const one = new OneDevice()
      .add("light", { ...config })
      .say("b", "80")
      .say("s", red)
      .say(...off);
    expect(one.words()).toEqual({ light: "off" });
    expect(one.catalog.read("thing", { names: ["brightness"] }, one.now)).toMatchObject({
      text: "brightness: none at present",
    });
    expect(one.catalog.readingOf(one.device.key, "brightness", one.now)).toMatchObject({ value: null });
    one.say(...on);
    expect(one.words()).toMatchObject({ light: "on", brightness: "80 %" });
  });
});

describe("V18: attributes", () => {
  const config = { state_topic: "s", command_topic: "c", json_attributes_topic: "attr/json" };

  test("V18: are read as fields, on request", () => {
    const one = new OneDevice().add("switch", config).say("s", "ON");
    one.say("attr/json", { error: "filter full", runs: 3, ok: false, list: [1], more: { a: 1 }, none: null });
    expect(one.words()).toEqual({ switch: "on" });
    expect(one.words(true)).toEqual({ switch: "on", error: "filter full", runs: "3", ok: "no" });
    const read = one.catalog.read("thing", { all: true }, one.now);
    expect(read).toEqual({
      text: "switch: on (0 s ago)\nerror: filter full (0 s ago)\nruns: 3 (0 s ago)\nok: no (0 s ago)",
      tainted: true,
    });
    expect(one.catalog.read("thing", { names: ["error"] }, one.now)).toMatchObject({
      text: "error: filter full (0 s ago)",
    });
    expect(one.catalog.mqtt.topics().has("attr/json")).toBe(true);
  });

  test("V18: of a template, and of a name", () => {
    const one = new OneDevice().add("switch", {
      ...config,
      name: "Pump",
      json_attributes_template: "{{ value_json.data | tojson }}",
    });
    one.say("attr/json", { data: { filter: 12 } });
    expect(one.words(true)).toEqual({ Pump: "not reported yet", "Pump filter": "12" });
  });

  test("V18: are bounded, and the same ones are told once", () => {
    const one = new OneDevice()
      .add("sensor", { state_topic: "a", name: "A", json_attributes_topic: "j" }, "a")
      .add("sensor", { state_topic: "b", name: "B", json_attributes_topic: "j" }, "b");
    const many = Object.fromEntries(
      Array.from({ length: 40 }, (_, at) => [`key ${at} ${"k".repeat(99)}`, "x".repeat(200)]),
    );
    one.say("j", many);
    const words = Object.entries(one.words(true)).filter(([name]) => name.includes("key"));
    expect(words).toHaveLength(16);
    for (const [name, text] of words) expect(name.length + text.length).toBeLessThanOrEqual(300);
  });

  test("V18: keep no value alive that is too old", () => {
    const one = new OneDevice().add("sensor", {
      state_topic: "s",
      expire_after: 10,
      json_attributes_topic: "j",
    });
    one.say("s", "1").after(20_000).say("j", { a: 1 });
    expect(one.device.online).toBe(false);
  });

  test.each([["[1]"], ["no JSON"], ["{}"]])("V18: %s is none", (payload) => {
    expect(new OneDevice().add("switch", config).say("attr/json", payload).words(true)).toEqual({
      switch: "not reported yet",
    });
  });
});

describe("V18: a device", () => {
  const config = (id: string, device: object) =>
    [
      `homeassistant/sensor/${id}/config`,
      JSON.stringify({ unique_id: id, name: id, state_topic: id, device }),
    ] as const;

  test("V18: with a MAC in three spellings is one", () => {
    const catalog = newCatalog();
    const devices = [
      { connections: [["mac", "A4C138000001"]], name: "Probe" },
      { connections: [["mac", "a4:c1:38:00:00:01"]], name: "Probe" },
      { identifiers: ["A4-C1-38-00-00-01"], name: "Probe" },
      { identifiers: "a4c1.3800.0001", name: "Probe" },
      { identifiers: ["A4C138000002"], name: "Another" },
      { identifiers: ["A4C1380000"], name: "Short" },
    ];
    for (const [at, device] of devices.entries()) catalog.mqtt.config(...config(`e${at}`, device), NOW);
    expect(catalog.devices(NOW).map(({ id }) => id)).toEqual(["another", "probe", "short"]);
    expect(catalog.readings("probe", NOW)).toHaveLength(4);
    // It keeps its id when it is written otherwise alone.
    const later = newCatalog();
    later.restore(JSON.parse(JSON.stringify(catalog.dump())));
    later.mqtt.config(...config("new", { identifiers: ["0xA4C138000001"], name: "Renamed" }), NOW);
    expect(later.devices(NOW).map(({ id }) => id)).toEqual(["probe"]);
  });

  test("V18: whose unit changes does not have the old number in the new unit", () => {
    const one = new OneDevice()
      .add("sensor", { state_topic: "t", unit_of_measurement: "°C" })
      .say("t", "20", true);
    expect(one.words()).toEqual({ sensor: "20 °C" });
    one.add("sensor", { state_topic: "t", unit_of_measurement: "°F" });
    expect(one.words()).toEqual({ sensor: "not reported yet" });
    // The broker sends what it kept once more, as after another subscription.
    one.say("t", "20", true);
    expect(one.words()).toEqual({ sensor: "not reported yet" });
    one.say("t", "68");
    expect(one.words()).toEqual({ sensor: "68 °F" });
    one.add("sensor", { state_topic: "t", unit_of_measurement: "°F", name: "Outside" });
    expect(one.words()).toEqual({ Outside: "68 °F" });
  });
});

describe("V18: a lock with a code", () => {
  const lock = { command_topic: "c", state_topic: "s", code_format: "^\\d{4}$", payload_open: "OPEN" };

  test("V18: is locked without it, and what needs it is said", () => {
    const one = new OneDevice().add("lock", lock);
    expect(one.device.actions.map(({ name }) => name)).toEqual(["read", "lock"]);
    expect(one.sent("lock")).toEqual(["c LOCK"]);
    expect(one.confirmedBy("lock", {}, ["s", "LOCKED"])).toContain("locked");
    expect(one.device.notOffered).toEqual([
      { what: "lock: unlock", why: "it needs a code" },
      { what: "lock: open", why: "it needs a code" },
    ]);
  });

  test("V18: that its commands carry is only read", () => {
    const one = new OneDevice().add("lock", {
      ...lock,
      command_template: '{"do":"{{ value }}","code":"{{ code }}"}',
    });
    expect(one.device.actions.map(({ name }) => name)).toEqual(["read"]);
    expect(one.device.notOffered).toEqual([
      { what: "lock: lock, unlock", why: "its commands have a code, and none is kept here" },
    ]);
  });
});
