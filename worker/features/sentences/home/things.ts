/** Things of a home as a sentence may mean them: devices of the broker, and machines. Pure. */
import { kindOf } from "@edgecall/core/agents/kinds.ts";
import type { ActionAdvert } from "@edgecall/core/protocol/mqtt.ts";
import type { ThingType } from "@edgecall/core/sentences/frame.ts";

export type Thing = {
  id: string;
  name: string;
  /** The name as a person gave it; else it is the publisher's, or made of the id. */
  own: boolean;
  area?: string;
  online: boolean;
  /** A device of the broker; else a machine. */
  hosted: boolean;
  /** The person may see what it is, and change nothing of it. */
  readOnly: boolean;
  /** "light" → ["brightness"], as its line has them. A binary sensor is a `sensor`. */
  kinds: ReadonlyMap<string, readonly string[]>;
  /** Its actions. Their schemas are parsed when they are first needed. */
  adverts(): readonly ActionAdvert[];
};

/** "light (brightness)", also where the line was cut: "sensor (temperature, hum…". */
const KIND = /([^(),]+)(?:\(([^()]*)\)?)?/g;

/** @param line of a hosted device, without its name @returns its kinds with their classes, as identifiers: `binary sensor` is `binary_sensor` */
export function kindsIn(line: string): ReadonlyMap<string, readonly string[]> {
  const [kinds = ""] = line.split(" · ");
  return new Map(
    [...kinds.matchAll(KIND)].map(([, kind = "", classes = ""]) => [
      identifier(kind),
      classes.split(",").flatMap((one) => identifier(one) || []),
    ]),
  );
}

function identifier(words: string): string {
  return words.trim().toLowerCase().replaceAll(" ", "_");
}

type Test = (thing: Thing, has: (kind: string, ...classes: string[]) => boolean) => boolean;

/** Words in names tell what is switched by a plug: core/agents/kinds.ts has them. */
const named =
  (...kinds: string[]): Test =>
  (thing, has) =>
    (has("switch") || has("valve") || has("media_player")) &&
    kinds.includes(kindOf({ id: thing.id, line: thing.name, actions: [] }));
const kind =
  (...kinds: string[]): Test =>
  (_, has) =>
    kinds.some((one) => has(one));
/** A cover of this class, or one that says none. */
const cover =
  (...classes: string[]): Test =>
  (thing, has) =>
    has("cover", ...classes) || (has("cover") && !hasCoverClass(thing));
const sensor =
  (...classes: string[]): Test =>
  (_, has) =>
    has("sensor", ...classes);
const either =
  (...tests: Test[]): Test =>
  (thing, has) =>
    tests.some((test) => test(thing, has));

const COVER_CLASSES = [
  "awning",
  "blind",
  "curtain",
  "damper",
  "door",
  "garage",
  "gate",
  "shade",
  "shutter",
  "window",
];

function hasCoverClass({ kinds }: Thing): boolean {
  return (kinds.get("cover") ?? []).some((one) => COVER_CLASSES.includes(one));
}

const never: Test = () => false;

const TYPES: Readonly<Record<ThingType, Test>> = {
  light: either(kind("light"), named("light")),
  plug: kind("switch"),
  switch: kind("switch"),
  fan: either(kind("fan"), named("ventilation")),
  cover: kind("cover"),
  blind: cover("blind", "shade", "shutter"),
  shutter: cover("shutter", "blind"),
  curtain: cover("curtain"),
  awning: cover("awning"),
  window: either(sensor("window", "opening"), (_, has) => has("cover", "window")),
  door: either(sensor("door"), (_, has) => has("cover", "door")),
  garage_door: either(sensor("garage_door"), (_, has) => has("cover", "garage")),
  gate: (_, has) => has("cover", "gate"),
  valve: kind("valve"),
  lock: kind("lock"),
  heating: kind("climate"),
  cooling: kind("climate"),
  thermostat: kind("climate"),
  humidifier: kind("humidifier"),
  water_heater: kind("water_heater"),
  vacuum: kind("vacuum"),
  mower: kind("lawn_mower"),
  siren: kind("siren"),
  alarm: kind("alarm_control_panel"),
  media_player: either(kind("media_player"), named("media")),
  television: named("media"),
  speaker: named("media"),
  camera: kind("camera", "image"),
  pump: named("pump"),
  sprinkler: either(kind("valve"), named("watering")),
  washing_machine: never,
  dryer: never,
  dishwasher: never,
  oven: never,
  fridge: never,
  freezer: never,
  coffee_machine: never,
  sensor: kind("sensor"),
  thermometer: sensor("temperature"),
  motion_sensor: sensor("motion", "occupancy", "presence", "moving"),
  smoke_detector: sensor("smoke", "gas", "carbon_monoxide"),
  leak_sensor: sensor("moisture"),
  button: kind("button"),
  scene: kind("scene"),
  machine: (thing) => !thing.hosted,
  device: () => true,
};

export function isOfType(thing: Thing, type: ThingType): boolean {
  const has = (of: string, ...classes: string[]) => {
    const own = thing.kinds.get(of);
    return own !== undefined && (classes.length === 0 || classes.some((one) => own.includes(one)));
  };
  return TYPES[type](thing, has);
}
