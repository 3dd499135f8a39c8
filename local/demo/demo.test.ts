/** What the demo home publishes, as the bridge's own reader of discovery understands it; without a broker. */
import type { DeviceCatalog } from "@edgecall/discovery/catalog.ts";
import { connectAsync } from "mqtt";
import { expect, test } from "vitest";
import { newCatalog, published } from "../../discovery/testkit/device-cases.ts";
import { until } from "../../test/wait.ts";
import { startBroker } from "../broker.ts";
import { type DemoMessage, type DemoOptions, SimulatedHome, startDemoHome } from "./demo.ts";
import { DEVICES } from "./house.ts";
import { ManualClock } from "./testkit/manual-clock.ts";

/** A house that runs by a clock of the test, heard by a catalog of devices. */
class Heard {
  readonly clock = new ManualClock();
  readonly catalog: DeviceCatalog = newCatalog();
  readonly messages: DemoMessage[] = [];
  readonly home: SimulatedHome;
  /** So many messages were heard. */
  #heard = 0;

  constructor(options: Pick<DemoOptions, "seed" | "speed"> = {}) {
    this.home = new SimulatedHome({ ...options, clock: this.clock }, (message) => {
      this.messages.push(message);
      const { topic, payload } = message;
      const now = this.clock.now();
      if (/^homeassistant\/.*\/config$|^tasmota\/discovery\//.test(topic))
        this.catalog.mqtt.config(topic, payload, now);
    });
    this.home.begin();
    // A broker gives what it keeps to whoever subscribes later.
    for (const { topic, payload, retain } of this.messages) if (retain) this.#hear(topic, payload, true);
    this.#heard = this.messages.length;
  }

  #hear(topic: string, payload: string, retained: boolean): void {
    this.catalog.mqtt.state(topic, payload, { now: this.clock.now(), retained });
  }

  /** @returns the messages since the last time */
  go(ms: number): DemoMessage[] {
    this.clock.go(ms);
    const fresh = this.messages.slice(this.#heard);
    this.#heard = this.messages.length;
    for (const { topic, payload } of fresh) this.#hear(topic, payload, false);
    return fresh;
  }

  words(id: string): string[] {
    return this.catalog.readings(id, this.clock.now()).map(({ text }) => text);
  }

  /** Sends a command as the bridge does. @returns what was published in the time, and whether that confirms it at its end */
  change(id: string, action: string, parameters: object, ms = 200): { said: string[]; isDone: boolean } {
    const plan = this.catalog.plan(id, action, { ...parameters }, this.clock.now());
    if ("error" in plan) throw new Error(plan.error);
    const mark = this.catalog.mark(this.clock.now());
    for (const { topic, payload } of published(plan)) this.home.receive(topic, payload);
    const said = this.go(ms).map(({ topic, payload }) => `${topic} ${payload}`);
    return { said, isDone: plan.confirm?.(mark) !== undefined };
  }
}

const ids = new Map<string, string>([
  ["Freezer", "nexus-t-1-74"],
  ["Bedroom thermometer", "nexus-th-2-86"],
  ["Garden thermometer", "nexus-t-3-99"],
]);
const idOf = (name: string) => ids.get(name) ?? name.toLowerCase().replaceAll(" ", "-");

test("each device of the house is one device of the broker, online, with readings, and nothing is left out", () => {
  const heard = new Heard();
  heard.go(3_000);
  const devices = heard.catalog.devices(heard.clock.now());
  expect(devices.map(({ id }) => id).sort()).toEqual(DEVICES.map(({ name }) => idOf(name)).sort());
  expect(DEVICES).toHaveLength(35);
  for (const device of devices) {
    expect(device, device.id).toMatchObject({ online: true, notOffered: [] });
    const silent = heard.catalog
      .readings(device.id, heard.clock.now(), true)
      .filter(({ text }) => /not reported|unknown|not readable/.test(text));
    expect(silent, device.id).toEqual([]);
  }
});

test.each([
  ["Kitchen light", "light", ["read", "set"], ["on", "80 %", "2702 K"]],
  ["Reading lamp", "light", ["read", "set"], ["off"]],
  ["Ceiling light", "light", ["read", "set"], ["off"]],
  ["Hall light", "light", ["read", "set"], ["off"]],
  ["Bathroom light", "light", ["read", "set"], ["off"]],
  ["TV", "switch", ["read", "set"], ["on"]],
  ["Kitchen window", "binary_sensor", ["read"], ["closed"]],
  ["Bedroom window", "binary_sensor", ["read"], ["open"]],
  ["Hall motion", "binary_sensor", ["read"], ["clear"]],
  ["Leak sensor", "binary_sensor", ["read"], ["dry"]],
  ["Phone", "binary_sensor", ["read"], ["at home"]],
  ["Water valve", "valve", ["read", "open", "close"], ["open"]],
  ["Front door", "lock", ["read", "lock", "unlock"], ["locked"]],
  ["Bathroom fan", "fan", ["read", "set"], ["off", "33 %"]],
  ["Blinds", "cover", ["read", "open", "close", "stop", "set_position"], ["open", "100 %"]],
  ["Bedroom heating", "climate", ["read", "set"], ["heat", "17.5 °C", "18.3 °C", "idle"]],
  ["Office thermometer", "sensor", ["read"], ["20.9 °C"]],
])("%s is a %s that can %j and says %j", (name, kind, actions, words) => {
  const heard = new Heard();
  heard.go(3_000);
  const device = heard.catalog.device(idOf(name), heard.clock.now());
  expect(device?.kinds).toEqual([kind]);
  expect(device?.actions.map((action) => action.name)).toEqual(actions);
  expect(heard.words(idOf(name))).toEqual(words);
});

test.each([
  ["Kitchen light", "set", { on: false }, "off"],
  ["Kitchen light", "set", { brightness_pct: 30, kelvin: 3_500 }, "3508 K"],
  ["Reading lamp", "set", { rgb: [255, 0, 0] }, "xy 0.701, 0.299"],
  ["Ceiling light", "set", { on: true, brightness_pct: 30 }, "30 %"],
  ["Bathroom light", "set", { on: true }, "on"],
  ["Hall light", "set", { on: true }, "on"],
  ["Dryer", "set", { on: true }, "on"],
  ["Bathroom fan", "set", { on: true, percentage: 100 }, "100 %"],
  ["Bedroom heating", "set", { temperature: 21.5 }, "21.5 °C"],
  ["Living room heating", "set", { mode: "off" }, "off"],
  ["Water valve", "close", {}, "closed"],
  ["Water valve", "open", {}, "open"],
  ["Front door", "unlock", {}, "unlocked"],
  ["Front door", "lock", {}, "locked"],
  ["Garden pump", "set", { on: true }, "on"],
] as const)("%s carries out %s %j, and says so within 20 ms", (name, action, parameters, words) => {
  const heard = new Heard();
  heard.go(3_000);
  expect(heard.change(idOf(name), action, parameters, 20).isDone).toBe(true);
  expect(heard.words(idOf(name)).join("; ")).toContain(words);
});

test("the blinds take their time", () => {
  const heard = new Heard();
  heard.go(3_000);
  expect(heard.change("blinds", "set_position", { position: 60 }, 5_000).isDone).toBe(false);
  heard.go(5_000);
  expect(heard.words("blinds")).toEqual(["open", "60 %"]);
});

test("the dead light says nothing, and zigbee2mqtt says that", () => {
  const heard = new Heard();
  heard.go(3_000);
  const { said, isDone } = heard.change("bedroom-light", "set", { on: true }, 5_000);
  expect(isDone).toBe(false);
  expect(said.filter((line) => line.startsWith("zigbee2mqtt/Bedroom light"))).toEqual([]);
  const errors = said.filter((line) => line.startsWith("zigbee2mqtt/bridge/logging"));
  expect(errors).toEqual([expect.stringContaining("Publish 'set' 'state' to 'Bedroom light' failed")]);
  expect(heard.words("bedroom-light")).toEqual(["off"]);
});

test("the plug that lies says on, and takes it back", () => {
  const heard = new Heard();
  heard.go(3_000);
  const { said, isDone } = heard.change("office-plug", "set", { on: true });
  const results = said.filter((line) => line.startsWith("stat/tasmota_office_plug/RESULT"));
  expect(results).toEqual([expect.stringContaining('"ON"'), expect.stringContaining('"OFF"')]);
  expect(isDone).toBe(false);
  expect(heard.words("office-plug")).toEqual(["off"]);
});

test.each([
  ["zigbee2mqtt/Kitchen light/get", '{"state":""}', /^zigbee2mqtt\/Kitchen light \{"brightness":203/],
  ["cmnd/tasmota_fridge/STATE", "", /^stat\/tasmota_fridge\/RESULT .*"POWER":"ON"/],
  ["cmnd/tasmota_fridge/STATUS", "10", /^stat\/tasmota_fridge\/STATUS10 .*"Power":82/],
  ["cmnd/tasmota_tv/POWER", "", /^stat\/tasmota_tv\/RESULT \{"POWER":"ON"\}/],
  ["cmnd/tasmota_tv/Nonsense", "1", /^stat\/tasmota_tv\/RESULT \{"Command":"Unknown"\}/],
  ["zigbee2mqtt/Sauna/set", "ON", /^zigbee2mqtt\/bridge\/logging .*'Sauna' is unknown/],
  ["zigbee2mqtt/Kitchen light/set", "{oops", /^zigbee2mqtt\/bridge\/logging .*No converter available/],
])("%s %s is answered", (topic, payload, answer) => {
  const heard = new Heard();
  heard.go(2_500);
  const from = heard.messages.length;
  heard.home.receive(topic, payload);
  const said = heard.messages.slice(from).map((message) => `${message.topic} ${message.payload}`);
  expect(said).toEqual([expect.stringMatching(answer)]);
});

test("the same seed publishes the same messages, also with the same commands; another one others", () => {
  const run = (seed: number) => {
    const heard = new Heard({ seed, speed: 20 });
    heard.go(10_000);
    heard.home.receive("zigbee2mqtt/Reading lamp/set", '{"state":"ON","brightness":100}');
    heard.home.receive("cmnd/tasmota_tv/POWER", "OFF");
    heard.go(20_000);
    return heard.messages;
  };
  const first = run(11);
  expect(first.length).toBeGreaterThan(1_000);
  expect(run(11)).toEqual(first);
  expect(run(12)).not.toEqual(first);
});

test.each([0.5, 1, 60, 1_000])("speed %d: so many seconds of the house pass in one", (speed) => {
  const heard = new Heard({ speed });
  heard.go(10_000);
  expect(Math.abs(heard.home.second - speed * 10)).toBeLessThanOrEqual(Math.max(1, speed / 10));
});

test("a hook of a test changes a device, which reports at once", () => {
  const heard = new Heard();
  heard.go(3_000);
  heard.home.change("Kitchen window", { open: true });
  heard.home.happen("leak");
  heard.go(1_100);
  expect(heard.words("kitchen-window")).toEqual(["open"]);
  expect(heard.words("leak-sensor")).toEqual(["wet"]);
});

test.each(["Kitchen light", "Ceiling light", "TV"])("%s is away, answers nothing, and comes back", (name) => {
  const heard = new Heard();
  heard.go(3_000);
  const isOnline = () => heard.catalog.device(idOf(name), heard.clock.now())?.online;
  heard.home.online(name, false);
  const away = heard.go(20_000);
  expect(isOnline()).toBe(false);
  expect(away.filter(({ topic }) => topic === `zigbee2mqtt/${name}`)).toEqual([]);
  heard.home.online(name, true);
  heard.go(100);
  expect(isOnline()).toBe(true);
});

test("a broker that comes back with an empty memory is told all anew, and commands reach the house again", async () => {
  const first = await startBroker();
  const port = Number(new URL(first.url).port);
  const house = await startDemoHome({ url: first.url });
  await first.stop();
  const second = await startBroker({ port });
  const topics = new Set<string>();
  const client = await connectAsync(second.url, { reconnectPeriod: 0 });
  try {
    client.on("message", (topic) => topics.add(topic));
    await client.subscribeAsync("#");
    const configs = () =>
      [...topics].filter((topic) => /^(homeassistant\/.*|tasmota\/discovery\/.*)\/config$/.test(topic));
    await until(() => configs().length > 70, { what: "the descriptions" });
    // A command that comes before it has subscribed again is lost, as a real device's would be.
    const isOff = async () => {
      await client.publishAsync("cmnd/tasmota_tv/POWER", "OFF");
      return house.get("TV").on === false;
    };
    await until(isOff, { every: 200, what: "the TV is off" });
  } finally {
    await client.endAsync(true);
    await house.stop();
    await second.stop();
  }
});

test("a house whose broker is gone ends all the same", async () => {
  const broker = await startBroker();
  const house = await startDemoHome({ url: broker.url });
  await broker.stop();
  await house.stop();
  expect(house.second()).toBeLessThan(60);
});

test("at its end each publisher says goodbye, and nothing follows", () => {
  const heard = new Heard();
  heard.go(3_000);
  heard.home.end();
  heard.go(60_000);
  const online = heard.catalog.devices(heard.clock.now()).filter((device) => device.online);
  // rtl_433 has no word for it.
  expect(online.map(({ publisher }) => publisher)).toEqual([undefined, undefined, undefined]);
  const last = heard.messages.at(-1)?.payload;
  expect(last).toMatch(/offline/i);
});
