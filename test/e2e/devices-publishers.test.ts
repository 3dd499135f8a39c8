/** Real programs that publish devices over MQTT, on one broker: what they announce, and what a question in words does with it. */
import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { findMosquitto } from "../../bridge/testkit/brokers.ts";
import { type Publishers, startPublishers } from "../publishers/all.ts";
import { BrokerView } from "../publishers/broker-view.ts";
import { HostedDevices } from "./hosted-devices.ts";
import { ROOT } from "./program.ts";
import { useStack } from "./stack.ts";

const NEEDS = ["needs/mosquitto", "needs/publishers", "needs/zigbee2mqtt", "needs/rtl-433"];
const PAGE = join(ROOT, "docs/guides/devices.md");

/** The kinds that each announces. */
const KINDS: Readonly<Record<string, string>> = {
  zigbee2mqtt:
    "binary_sensor button climate cover event fan light lock number select sensor siren switch text update",
  "sandcastle-sim": "binary_sensor climate cover light lock sensor switch vacuum",
  "ha-mqtt-discoverable":
    "binary_sensor button camera cover device_automation light lock number select sensor switch text valve",
  "ha-mqtt-device":
    "alarm_control_panel climate cover date datetime event fan humidifier image lawn_mower light lock number scene sensor siren tag text time update valve water_heater",
  "mqtt-io": "binary_sensor sensor switch",
  lnxlink: "button select sensor switch",
  rtl_433: "device_automation sensor",
};

/** Devices of each that report, together, each of its kinds that reports. */
const READ: Readonly<Record<string, readonly string[]>> = {
  zigbee2mqtt: [
    "living-room-lamp",
    "coffee-plug",
    "freezer",
    "garden-gate",
    "bedroom-blind-2",
    "bath-radiator",
    "front-door-lock",
    "air-purifier",
    "sofa-remote",
  ],
  "sandcastle-sim": [
    "living-room-main",
    "coffee-machine",
    "front-door",
    "bedroom-blind",
    "home-thermostat",
    "robot-vacuum",
    "kitchen-leak",
    "power-meter",
  ],
  "ha-mqtt-discoverable": ["workshop-box"],
  "ha-mqtt-device": ["boiler-room"],
  "mqtt-io": ["boiler-room-pi"],
  lnxlink: ["media-box"],
  rtl_433: ["nexus-th-1-90"],
};

type Change = {
  by: keyof typeof KINDS;
  kind: string;
  /** The device and its action. */
  do: string;
  with?: object;
  /** The result, without the age of the report. */
  says: RegExp;
  /** Nothing reports it back. */
  unconfirmed?: true;
  /** Asked about each time, for this reason. */
  danger?: RegExp;
};

const LOCK = /it is a lock/;
const SENT = { says: /^Sent to .*\. It does not report back/, unconfirmed: true } as const;

/** The changes of a publisher: kind, device, action, parameters, result. */
const of = (by: Change["by"], ...changes: Array<Omit<Change, "by">>): Change[] =>
  changes.map((change) => ({ by, ...change }));

const CHANGES: readonly Change[] = [
  ...of(
    "zigbee2mqtt",
    {
      kind: "light",
      do: "living-room-lamp set",
      with: { on: true, brightness_pct: 60, kelvin: 3000 },
      says: /: on, brightness 60 %, colour temperature 3003 K/,
    },
    {
      kind: "light",
      do: "living-room-lamp set",
      with: { rgb: [255, 0, 0] },
      says: /: colour xy 0.701, 0.299/,
    },
    { kind: "switch", do: "coffee-plug set", with: { on: true }, says: /: on/ },
    { kind: "cover", do: "bedroom-blind-2 set_position", with: { position: 40 }, says: /position 40 %/ },
    {
      kind: "climate",
      do: "bath-radiator set",
      with: { mode: "heat", temperature: 22.5 },
      says: /heat, .*22.5 °C/,
    },
    { kind: "select", do: "bath-radiator set_trv_mode", with: { value: "1" }, says: /Trv mode: 1/ },
    { kind: "number", do: "bath-radiator set_valve_position", with: { value: 30 }, says: /position: 30/ },
    { kind: "lock", do: "front-door-lock unlock", says: /: unlocked/, danger: LOCK },
    { kind: "lock", do: "front-door-lock lock", says: /: locked \(it was: unlocked\)/ },
    { kind: "siren", do: "alarm-siren sound", with: { duration_s: 5 }, ...SENT, danger: /it is a siren/ },
    { kind: "siren", do: "alarm-siren stop", ...SENT },
    // The purifier has nine speeds.
    { kind: "fan", do: "air-purifier set", with: { percentage: 50 }, says: /speed 55 %/ },
    { kind: "fan", do: "air-purifier set", with: { preset: "auto" }, says: /preset auto/ },
    { kind: "button", do: "kitchen-smoke press", ...SENT },
  ),
  ...of(
    "sandcastle-sim",
    {
      kind: "light",
      do: "living-room-main set",
      with: { on: true, brightness_pct: 50 },
      says: /on, brightness 50 %/,
    },
    { kind: "switch", do: "coffee-machine set", with: { on: true }, says: /: on \(it was: off\)/ },
    { kind: "lock", do: "front-door unlock", says: /: unlocked/, danger: LOCK },
    { kind: "cover", do: "bedroom-blind set_position", with: { position: 40 }, says: /position 40 %/ },
    {
      kind: "climate",
      do: "home-thermostat set",
      with: { mode: "heat", temperature: 22 },
      says: /heat, .*22.0 °C/,
    },
    { kind: "vacuum", do: "robot-vacuum start", says: /: cleaning/ },
    { kind: "vacuum", do: "robot-vacuum dock", says: /: returning/ },
  ),
  ...of(
    "ha-mqtt-discoverable",
    { kind: "valve", do: "workshop-box open_air_valve", says: /: open/, danger: /it is a valve/ },
    { kind: "cover", do: "workshop-box open_roller_door", says: /: open/, danger: /it is a garage/ },
    { kind: "number", do: "workshop-box set_target_pressure", with: { value: 5.5 }, says: /: 5.5 bar/ },
    { kind: "text", do: "workshop-box set_display_text", with: { value: "hi" }, says: /: hi/ },
    { kind: "select", do: "workshop-box set_mode", with: { value: "boost" }, says: /: boost/ },
    { kind: "button", do: "workshop-box press", ...SENT, danger: /it is for restart/ },
    { kind: "switch", do: "workshop-box set_compressor", with: { on: true }, says: /: on/ },
    { kind: "lock", do: "workshop-box unlock", says: /: unlocked/, danger: LOCK },
    {
      kind: "light",
      do: "workshop-box set_bench_light",
      with: { on: true, brightness_pct: 40 },
      says: /on, brightness 40 %/,
    },
  ),
  ...of(
    "ha-mqtt-device",
    {
      kind: "light",
      do: "boiler-room set_ceiling",
      with: { on: true, brightness_pct: 80, kelvin: 3000 },
      says: /on, brightness 80 %, colour temperature 3000 K/,
    },
    {
      kind: "climate",
      do: "boiler-room set_floor_heating",
      with: { mode: "auto", temperature: 21.5 },
      says: /auto, .*21.5 °C/,
    },
    {
      kind: "humidifier",
      do: "boiler-room set_dryer",
      with: { on: true, humidity: 45 },
      says: /on, .*45.0 %/,
    },
    { kind: "lock", do: "boiler-room unlock", says: /: unlocked \(it was: locked\)/, danger: LOCK },
    {
      kind: "water_heater",
      do: "boiler-room set_tank",
      with: { mode: "performance", temperature: 60 },
      says: /performance, .*60.0 °C/,
    },
    {
      kind: "valve",
      do: "boiler-room set_position_main_water",
      with: { position: 30 },
      says: /position 30 %/,
      danger: /it is a valve/,
    },
    {
      kind: "siren",
      do: "boiler-room sound",
      with: { tone: "leak", duration_s: 5 },
      says: /: sounding/,
      danger: /it is a siren/,
    },
    { kind: "siren", do: "boiler-room stop_horn", says: /: silent/ },
    { kind: "lawn_mower", do: "boiler-room start", says: /: mowing/ },
    {
      kind: "alarm_control_panel",
      do: "boiler-room arm",
      with: { mode: "home" },
      says: /: armed home/,
      danger: /it is an alarm/,
    },
    {
      kind: "fan",
      do: "boiler-room set_vent",
      with: { on: true, percentage: 75, oscillate: true },
      says: /on, speed 75 %, oscillation on/,
    },
    { kind: "cover", do: "boiler-room open_garage_door", says: /: open/, danger: /it is a garage/ },
    {
      kind: "number",
      do: "boiler-room set_pump_speed",
      with: { value: 1500 },
      says: /: 1500.0 rpm/,
      danger: /its name has "pump"/,
    },
    { kind: "scene", do: "boiler-room activate", ...SENT },
    { kind: "date", do: "boiler-room set_next_service", with: { value: "2027-04-01" }, says: /: 2027-04-01/ },
    { kind: "time", do: "boiler-room set_warm_water_from", with: { value: "07:30:00" }, says: /: 07:30:00/ },
    {
      kind: "datetime",
      do: "boiler-room set_away_until",
      with: { value: "2027-01-05T07:30:00+01:00" },
      says: /: 2027-01-05T07:30:00\+01:00/,
    },
    { kind: "text", do: "boiler-room set_label", with: { value: "Cellar south" }, says: /: Cellar south/ },
  ),
  ...of("mqtt-io", {
    kind: "switch",
    do: "boiler-room-pi set_pump",
    with: { on: true },
    says: /: on/,
    danger: /its name has "pump"/,
  }),
  ...of("lnxlink", { kind: "switch", do: "media-box set", with: { on: true }, says: /: on \(it was: off\)/ }),
];

describe("publishers of devices", { tags: NEEDS }, () => {
  const state = mkdtempSync(join(tmpdir(), "edgecall-bridge-"));
  const stack = useStack({ mosquitto: findMosquitto(), bridge: { STATE_DIRECTORY: state } });
  const devices = new HostedDevices(stack);
  let view: BrokerView;
  let publishers: Publishers;
  /** Outcomes by publisher and kind. */
  const done = new Map<string, Set<"read" | "changed" | "sent">>();
  const add = (by: string, kind: string, what: "read" | "changed" | "sent") =>
    done.set(`${by} ${kind}`, (done.get(`${by} ${kind}`) ?? new Set()).add(what));

  beforeAll(async () => {
    const port = Number(new URL(stack.mqttUrl).port);
    view = await BrokerView.open(port);
    publishers = await startPublishers(port, view);
  }, 180_000);

  afterAll(async () => {
    await publishers?.stop();
    await view?.close();
  });

  /** The kinds of what a publisher announces, each once. */
  function kindsOf(topics: RegExp): string[] {
    const kinds = view
      .configs()
      .filter(({ topic }) => topics.test(topic))
      .flatMap(({ kind, payload }) =>
        kind === "device"
          ? Object.values(payload.cmps as Record<string, { p: string }>).map(({ p }) => p)
          : kind,
      );
    return [...new Set(kinds)].sort();
  }

  test("each announces its kinds, and the home knows its devices", async () => {
    const thermometer = { id: 90, channel: 1, temperature: -18.2, humidity: 48 };
    publishers.rtl433.hear(thermometer);
    await view.message("homeassistant/sensor/Nexus-TH-1-90/Nexus-TH-1-90-T/config");
    const made = publishers.list.map(({ name, topics }) => [name, kindsOf(topics).join(" ")]);
    expect(Object.fromEntries(made)).toEqual(KINDS);
    await devices.known(Object.values(READ).flat());

    // Some report only when something happens.
    publishers.rtl433.hear(thermometer);
    publishers.zigbee2mqtt.report("Freezer", { "msTemperatureMeasurement.measuredValue": -1_750 });
    publishers.zigbee2mqtt.report("Garden gate", { "genOnOff.onOff": 1 });
    publishers.zigbee2mqtt.press("Sofa remote", "genOnOff", "toggle");
    publishers.zigbee2mqtt.alarm("Kitchen smoke", 1);
    publishers.deviceForm.ring();
    for (const [name, value] of [
      ["btn", "pressed"],
      ["Dust", 12],
      ["Door", true],
      ["Camera", ""],
    ] as const)
      publishers.box.report(name, value);
  });

  test("a change of a device asks, a device that a person allowed does not, and a dead one is told in zigbee2mqtt's words", async () => {
    const first = await devices.ask("coffee-plug", "set", { on: true });
    expect(first).toMatchObject({ status: "success", text: expect.stringMatching(/: on, reported/) });
    expect(first.reason).toBe("it changes this device");
    const plug = (await devices.list()).find(({ id }) => id === "coffee-plug");
    if (plug) await devices.allow(plug);

    publishers.zigbee2mqtt.setDead("Coffee plug", true);
    const dead = await devices.ask("coffee-plug", "set", { on: false });
    expect(dead).toMatchObject({ status: "error", reason: undefined });
    expect(dead.text).toMatch(/Sent to Coffee plug; .* Zigbee2MQTT: ".*no answer from the device/);

    publishers.zigbee2mqtt.setDead("Coffee plug", false);
    const again = await devices.ask("coffee-plug", "set", { on: false });
    expect(again).toMatchObject({ status: "success", reason: undefined });
  });

  test("each kind is changed by a question, and its own state confirms it where it has one", async () => {
    for (const device of await devices.list()) if (device.mode !== "allowed") await devices.allow(device);
    for (const change of CHANGES) {
      const [agent = "", action = ""] = change.do.split(" ");
      const { status, text, reason = "" } = await devices.ask(agent, action, change.with);
      const result = { status: "success", text: expect.stringMatching(change.says) };
      expect.soft({ status, text }, change.do).toEqual(result);
      const reported = /, reported \d+\.\d s after the command/.test(text);
      expect.soft(reported, change.do).toBe(!change.unconfirmed);
      expect.soft(reason, change.do).toMatch(change.danger ?? /^$/);
      add(change.by, change.kind, change.unconfirmed ? "sent" : "changed");
    }
  }, 180_000);

  test("each kind is read by a question", async () => {
    const known = new Map((await devices.list()).map((device) => [device.id, device]));
    for (const [by, ids] of Object.entries(READ))
      for (const id of ids) {
        const { status, text } = await devices.ask(id, "read", { all: true });
        expect(`${id} ${status}`).toBe(`${id} success`);
        for (const { name, kind } of known.get(id)?.readings ?? []) {
          const line = text.split("\n").find((one) => one.startsWith(`${name}: `));
          expect(line, `${id}: ${name}`).toBeDefined();
          if (line && !/: (unknown|not reported yet)/.test(line)) add(by, kind, "read");
        }
      }
    const camera = await devices.ask("workshop-box", "snapshot");
    expect(camera).toMatchObject({ status: "success", text: expect.stringContaining("image/png") });
  }, 120_000);

  test("a button that switches a machine off is asked about, and the machine is away", async () => {
    const pressed = await devices.ask("media-box", "press");
    expect(pressed.reason).toMatch(/its name has "shutdown"/);
    expect(pressed.text).toMatch(/^Sent to media-box, Shutdown/);
    add("lnxlink", "button", "sent");
    await stack.gateway.offline("media-box");
    expect(publishers.lnxlink.wasShutDown()).toBe(true);
  });

  test("docs/guides/devices.md has what was done, kind by publisher", () => {
    const page = readFileSync(PAGE, "utf8");
    const table = tableOf(done);
    const parts = /(<!-- publishers -->\n\n)([\s\S]*?)(\n<!-- \/publishers -->)/;
    // `WRITE_DOCS=yes npx vitest run …` writes it.
    if (process.env.WRITE_DOCS === "yes") writeFileSync(PAGE, page.replace(parts, `$1${table}$3`));
    else expect(parts.exec(page)?.[2]).toBe(table);
  });
});

function tableOf(done: ReadonlyMap<string, ReadonlySet<string>>): string {
  const publishers = Object.keys(KINDS);
  const kinds = [...new Set(Object.values(KINDS).flatMap((kinds) => kinds.split(" ")))].sort();
  const cell = (by: string, kind: string) => {
    if (!KINDS[by]?.split(" ").includes(kind)) return "";
    const what = done.get(`${by} ${kind}`);
    return what ? ["read", "changed", "sent"].filter((one) => what.has(one)).join(", ") : "announced";
  };
  const rows = kinds.map((kind) => [`\`${kind}\``, ...publishers.map((by) => cell(by, kind))]);
  const all = [["kind", ...publishers], ...rows];
  // As wide as the formatter makes it.
  const widths = ["kind", ...publishers].map((_, n) => Math.max(...all.map((row) => row[n]?.length ?? 0)));
  const lines = [all[0], widths.map((width) => "-".repeat(width)), ...rows];
  return lines
    .map((row = []) => `| ${row.map((text, n) => text.padEnd(widths[n] ?? 0)).join(" | ")} |\n`)
    .join("");
}
