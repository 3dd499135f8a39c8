/** What a person sees as one thing of the home: a device of the broker or a machine, with its state first. Pure. */
import type { AgentView, BorrowedView, DeviceView } from "@edgecall/client/routes.ts";
import { visible } from "@edgecall/core/tools/visible.ts";
import { type Control, controlsOf } from "./control-kinds.ts";
import type { IconName, Tone } from "./parts/icon-paths.ts";
import { capital, numberText, say, stateText } from "./texts/say.ts";

export type Reading = NonNullable<DeviceView["readings"]>[number];

/** `kind` is by which Home counts and filters. */
export type Kind =
  | "light"
  | "plug"
  | "door"
  | "window"
  | "climate"
  | "cover"
  | "sensor"
  | "machine"
  | "lent"
  | "other";

export type Thing = {
  id: string;
  name: string;
  area: string | null;
  kind: Kind;
  icon: IconName;
  tone: Tone;
  /** Its state in words; what it is called by the gateway while it has none. */
  state: string;
  /** When the state was reported, epoch ms; null: nobody knows. Undefined: it has none. */
  at: number | null | undefined;
  /** The program that describes it, or what it is. */
  source: string;
  /** It can be reached, and what it reports counts. */
  usable: boolean;
  isOn: boolean;
  /** What is wrong with it, in words; empty: nothing. */
  wrong: string[];
  /** A press changes it at once: what is harmless, and offered to this person. */
  press: Press | undefined;
  device: DeviceView | undefined;
  agent: AgentView | undefined;
  /** What it says of itself, of one that another home lends. */
  line?: string;
};

type Press = {
  action: string;
  parameters: Record<string, unknown>;
  label: string;
  on: boolean | undefined;
};

/** In this order a kind of part says how a device is. Those that are not named come after these. */
const MAIN_KINDS = [
  "lock",
  "alarm_control_panel",
  "cover",
  "valve",
  "light",
  "switch",
  "fan",
  "climate",
  "humidifier",
  "water_heater",
  "vacuum",
  "lawn_mower",
  "siren",
  "media_player",
  "binary_sensor",
  "sensor",
];
/** Of sensors, in the same way. */
const MAIN_CLASSES = [
  "smoke",
  "gas",
  "carbon_monoxide",
  "moisture",
  "door",
  "window",
  "garage_door",
  "opening",
  "occupancy",
  "presence",
  "motion",
  "temperature",
  "humidity",
  "carbon_dioxide",
  "power",
];
/** Something is wrong while these are true. */
const ALARMS = ["smoke", "gas", "carbon_monoxide", "moisture", "problem", "safety", "tamper", "heat"];
/** Parts that report what happened, not how something is. */
const MOMENTS = ["device_automation", "event", "button", "scene", "update"];
const LOW_BATTERY_PCT = 15;

/** @param lent what other homes lend to this one */
export function thingsOf(
  devices: readonly DeviceView[],
  agents: readonly AgentView[],
  mayCommand: boolean,
  lent: readonly BorrowedView[] = [],
): Thing[] {
  return [
    ...devices.map((device) => thingOfDevice(device, mayCommand)),
    ...agents.filter(({ hosted }) => hosted !== true).map(thingOfAgent),
    ...lent.flatMap(({ name, agents: theirs }) => theirs.map((agent) => thingOfLent(agent, name))),
  ];
}

function thingOfLent({ id, online, line }: BorrowedView["agents"][number], home: string): Thing {
  return {
    ...{ id, name: id.slice(id.indexOf("/") + 1), area: null, kind: "lent", icon: "globe" },
    ...{ tone: online ? "plain" : "gone", state: capital(say(online ? "online" : "offline")), at: undefined },
    ...{ source: say("lentBy", { home: visible(home) }), usable: online, isOn: false },
    ...{ wrong: [], press: undefined, device: undefined, agent: undefined, line: visible(line) },
  };
}

function thingOfDevice(device: DeviceView, mayCommand: boolean): Thing {
  const { id, area, online, mode, publisher, changed, last_seen } = device;
  const readings = (device.readings ?? []).filter(({ kind }) => !MOMENTS.includes(kind));
  const main = mainReading(readings);
  const isUsable = online && mode !== "off" && main?.unavailable !== true;
  const kind = kindOf(main);
  const isOn = isUsable && ON_KINDS.includes(kind) && isTrue(main?.value);
  const isAlarm =
    isUsable && main?.kind === "binary_sensor" && isAlarmClass(main.class) && main.value === true;
  const battery = readings.find(isLowBattery);
  const wrong = [
    ...(online ? [] : [capital(say("offline"))]),
    ...(online && main?.unavailable === true ? [say("noAnswer")] : []),
    ...(isAlarm ? [stateOfReading(main)] : []),
    ...(battery && isUsable ? [say("batteryLow", { value: textOf(battery) })] : []),
    ...(changed ? [say("hasChanged")] : []),
  ];
  return {
    id,
    name: visible(device.name),
    area,
    kind,
    icon: iconOf(main, kind),
    tone: isUsable ? (isAlarm ? "bad" : isOn ? "on" : "plain") : "gone",
    state: stateOf(device, main, readings),
    at: online ? main?.at : last_seen,
    source: publisher ? visible(publisher) : say("byBroker"),
    usable: isUsable,
    isOn,
    wrong: mode === "off" ? [] : wrong,
    press: isUsable && mayCommand ? pressOf(device) : undefined,
    device,
    agent: undefined,
  };
}

function thingOfAgent(agent: AgentView): Thing {
  const { id, online, problem, status, last_seen, foreign } = agent;
  return {
    id,
    name: id,
    area: null,
    kind: "machine",
    icon: "machine",
    tone: online ? (problem === undefined ? "plain" : "bad") : "gone",
    state: capital(say(online ? (status === "running" ? "isRunning" : "online") : "offline")),
    at: online ? undefined : last_seen,
    source: say(foreign ? "foreignAgent" : "machine"),
    usable: online,
    isOn: false,
    wrong: [
      ...(online ? [] : [capital(say("offline"))]),
      ...(problem === undefined ? [] : [visible(problem)]),
    ],
    press: undefined,
    device: undefined,
    agent,
  };
}

const ON_KINDS: readonly Kind[] = ["light", "plug", "other"];

function isAlarmClass(name: string | undefined): boolean {
  return name !== undefined && ALARMS.includes(name);
}

function isTrue(value: Reading["value"] | undefined): boolean {
  return value === true || value === "on" || value === "playing";
}

/** The reading that says how the device is. */
function mainReading(readings: readonly Reading[]): Reading | undefined {
  const rank = ({ kind, class: of }: Reading) => {
    const at = MAIN_KINDS.indexOf(kind);
    const within = of === undefined ? -1 : MAIN_CLASSES.indexOf(of);
    const [first, second] = [
      at === -1 ? MAIN_KINDS.length : at,
      within === -1 ? MAIN_CLASSES.length : within,
    ];
    return first * 100 + second + (of === "battery" ? 10_000 : 0);
  };
  return readings.reduce<Reading | undefined>(
    (best, one) => (best === undefined || rank(one) < rank(best) ? one : best),
    undefined,
  );
}

function isLowBattery({ class: of, kind, value, unavailable }: Reading): boolean {
  if (of !== "battery" || unavailable) return false;
  return kind === "binary_sensor" ? value === true : typeof value === "number" && value <= LOW_BATTERY_PCT;
}

function kindOf(main: Reading | undefined): Kind {
  if (main === undefined) return "other";
  const { kind, class: of } = main;
  if (kind === "binary_sensor") {
    if (of === "window") return "window";
    return of === "door" || of === "garage_door" || of === "opening" ? "door" : "sensor";
  }
  return KINDS[kind] ?? "other";
}

const KINDS: Readonly<Record<string, Kind>> = {
  light: "light",
  switch: "plug",
  lock: "door",
  cover: "cover",
  climate: "climate",
  water_heater: "climate",
  sensor: "sensor",
};

function iconOf(main: Reading | undefined, kind: Kind): IconName {
  if (main?.kind === "lock") return "lock";
  if (main?.kind === "fan") return "fan";
  if (kind === "sensor")
    return (
      (main?.class !== undefined && CLASS_ICONS[main.class]) ||
      (isAlarmClass(main?.class) ? "alarm" : "gauge")
    );
  return ICONS[kind];
}

const CLASS_ICONS: Readonly<Record<string, IconName>> = {
  temperature: "heating",
  moisture: "drop",
  humidity: "drop",
  occupancy: "person",
  presence: "person",
  motion: "person",
  battery: "battery",
};

const ICONS: Readonly<Record<Kind, IconName>> = {
  light: "lamp",
  plug: "plug",
  door: "door",
  window: "window",
  climate: "heating",
  cover: "blinds",
  sensor: "gauge",
  machine: "machine",
  lent: "globe",
  other: "gauge",
};

/** A state with what belongs to it: `On · 60 %`. */
function stateOf(
  { mode, online, readings: all }: DeviceView,
  main: Reading | undefined,
  readings: readonly Reading[],
): string {
  if (mode === "off") return say("switchedOff");
  if (!online) return capital(say("offline"));
  if (main === undefined) return all === null ? capital(say("notKnown")) : say("noReports");
  if (main.unavailable) return say("noAnswer");
  if (main.kind === "climate") return climateText(readings) ?? stateOfReading(main);
  const own = stateOfReading(main);
  const more = isTrue(main.value) || main.value === "open" ? extraOf(main, readings) : undefined;
  return more === undefined ? own : `${own} · ${more}`;
}

/** What it is set to; what it measures is the room's. */
function climateText(readings: readonly Reading[]): string | undefined {
  const target = readings.find(
    ({ name, value }) => name.toLowerCase().endsWith("target temperature") && typeof value === "number",
  );
  if (target) return say("setTo", { value: textOf(target) });
  const now = readings.find(
    ({ name, value }) =>
      name.toLowerCase().endsWith("temperature") &&
      !name.toLowerCase().includes("target") &&
      typeof value === "number",
  );
  return now && textOf(now);
}

function extraOf(main: Reading, readings: readonly Reading[]): string | undefined {
  const found = readings.find(({ name, class: of, value, unavailable }) => {
    if (unavailable || typeof value !== "number") return false;
    if (main.kind === "light") return name.toLowerCase().endsWith("brightness");
    if (main.kind === "switch") return of === "power";
    if (main.kind === "fan") return name.toLowerCase().endsWith("speed");
    return main.kind === "cover" && name.toLowerCase().endsWith("position") && value < 100;
  });
  return found && textOf(found);
}

function stateOfReading(reading: Reading): string {
  const { value, text, kind, class: of } = reading;
  if (value === null) return say("notKnown");
  if (typeof value === "number") return textOf(reading);
  return kind === "binary_sensor" && typeof value === "boolean"
    ? stateText(visible(text), { class: of, value })
    : stateText(visible(text));
}

/** A measured value as a person reads it at a glance: 21.17 °C is 21.2 °C. A device's page has all digits. */
function textOf({ value, text, unit }: Reading): string {
  if (typeof value !== "number" || unit === undefined || !text.endsWith(unit)) return visible(text);
  return `${numberText(value, unit === "%" || unit === "W" ? 0 : 1)} ${visible(unit)}`;
}

/** The one control that a press of a tile or a row works: a switch, or what opens and closes. Never a dangerous one. */
function pressOf(device: DeviceView): Press | undefined {
  if (device.mode !== "ask" && device.mode !== "allowed") return undefined;
  const controls = controlsOf(device).filter(({ isDangerous, disabled }) => !isDangerous && !disabled);
  const sets = controls.find((one): one is Control & { kind: "switch" } => one.kind === "switch");
  if (sets) {
    const on = sets.value ?? false;
    return { action: sets.action, parameters: { on: !on }, label: say(on ? "turnOff" : "turnOn"), on };
  }
  const cover = device.readings?.find(({ kind }) => kind === "cover");
  if (cover === undefined) return undefined;
  const action = cover.value === "closed" ? "open" : "close";
  if (!controls.some((one) => one.kind === "press" && one.action === action)) return undefined;
  return { action, parameters: {}, label: say(action), on: undefined };
}

/** What matters more comes first. */
export function byWeight(a: Thing, b: Thing): number {
  return weightOf(a) - weightOf(b) || a.name.localeCompare(b.name);
}

function weightOf({ tone, wrong, press, isOn, kind, device }: Thing): number {
  if (tone === "bad") return 0;
  if (wrong.length > 0) return 1;
  const isOpen = device?.readings?.some(({ kind: part, class: of, value }) =>
    part === "lock"
      ? value === "unlocked"
      : kind === "window" || kind === "door"
        ? of !== "battery" && value === true
        : false,
  );
  if (isOpen) return 2;
  if (isOn) return 3;
  if (press) return 4;
  return kind === "sensor" ? 6 : 5;
}

/** A name within its area: the bathroom's "Bathroom light" is its "Light". */
export function nameWithin({ name, area }: Pick<Thing, "name" | "area">): string {
  if (area === null || !name.toLowerCase().startsWith(`${area.toLowerCase()} `)) return name;
  return capital(name.slice(area.length + 1).trim()) || name;
}

export type Climate = {
  temperature: number;
  text: string;
  /** The thing that measures it. */
  of: string;
};

/** The temperature of a room, and its humidity: of a sensor of both before a heating before a thermometer. */
export function climateOf(things: readonly Thing[]): Climate | undefined {
  const candidates = things.flatMap((thing) => {
    if (!thing.usable || !thing.device?.readings) return [];
    const of = (name: string) =>
      thing.device?.readings?.find(
        (one) =>
          (one.class === name || one.name.toLowerCase() === name) &&
          typeof one.value === "number" &&
          !one.unavailable,
      );
    const temperature = of("temperature");
    if (!temperature || (thing.kind !== "climate" && thing.kind !== "sensor")) return [];
    const humidity = of("humidity");
    const rank = thing.kind === "climate" ? 1 : humidity ? 0 : 2;
    return [{ rank, temperature, humidity, of: thing.id }];
  });
  const [best] = candidates.sort((a, b) => a.rank - b.rank);
  if (!best) return undefined;
  const text = [best.temperature, best.humidity].flatMap((one) => (one ? [textOf(one)] : [])).join(" · ");
  return { temperature: Number(best.temperature.value), text, of: best.of };
}
