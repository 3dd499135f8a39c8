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

const SWITCHES = ["switch", "valve", "media_player"];

/** Words in names tell what is switched by a plug: core/agents/kinds.ts has them. */
const named =
  (...kinds: string[]): Test =>
  (thing, has) =>
    SWITCHES.some((one) => has(one)) &&
    kinds.includes(kindOf({ id: thing.id, line: thing.name, actions: [] }));
const kind =
  (...kinds: string[]): Test =>
  (_, has) =>
    kinds.some((one) => has(one));
/** A cover of this class. @param orNone one that says no class too */
const cover =
  (orNone: boolean, ...classes: string[]): Test =>
  (thing, has) => {
    const own = has("cover") ? coverClass(thing) : "";
    return own === undefined ? orNone : classes.includes(own);
  };
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

/** @returns undefined: nothing says it. Of a class that is dangerous its actions say why */
function coverClass({ kinds, adverts }: Thing): string | undefined {
  const own = kinds.get("cover")?.find((one) => COVER_CLASSES.includes(one));
  const why =
    own ??
    adverts()
      .find(({ name }) => name === "open")
      ?.danger_why?.replace("it is a ", "");
  return why !== undefined && COVER_CLASSES.includes(why) ? why : undefined;
}

const never: Test = () => false;

const TYPES: Readonly<Record<ThingType, Test>> = {
  light: either(kind("light"), named("light")),
  plug: kind("switch"),
  switch: kind("switch"),
  fan: either(kind("fan"), named("ventilation")),
  cover: kind("cover"),
  blind: cover(true, "blind", "shade", "shutter"),
  shutter: cover(true, "shutter", "blind"),
  curtain: cover(true, "curtain"),
  awning: cover(true, "awning"),
  window: either(sensor("window", "opening"), cover(false, "window")),
  door: either(sensor("door"), cover(false, "door")),
  garage_door: either(sensor("garage_door"), cover(false, "garage")),
  gate: cover(false, "gate"),
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

/** Types that no kind tells: of these is what is called so, whatever it is. */
const BY_NAME: ReadonlySet<ThingType> = new Set<ThingType>([
  "washing_machine",
  "dryer",
  "dishwasher",
  "oven",
  "fridge",
  "freezer",
  "coffee_machine",
]);
/** Types of these is also what is switched and called so: a plug that is called "heater". */
const BY_SWITCH: ReadonlySet<ThingType> = new Set<ThingType>([
  "light",
  "fan",
  "heating",
  "pump",
  "sprinkler",
  "television",
  "speaker",
  "media_player",
  "humidifier",
  "water_heater",
  "siren",
]);

/** A cover that says no class is what it is called: no blind is a garage door. */
const BY_COVER: ReadonlySet<ThingType> = new Set<ThingType>([
  "blind",
  "shutter",
  "curtain",
  "awning",
  "window",
  "door",
  "garage_door",
  "gate",
]);

/** @returns true: the type's things are known by their names too */
export function isNamedType(type: ThingType): boolean {
  return BY_NAME.has(type) || BY_SWITCH.has(type) || BY_COVER.has(type);
}

/** Whether a thing's name says the type in words. */
export type IsCalled = (name: string, type: ThingType) => boolean;

export function isOfType(thing: Thing, type: ThingType, isCalled: IsCalled): boolean {
  const has = (of: string, ...classes: string[]) => {
    const own = thing.kinds.get(of);
    return own !== undefined && (classes.length === 0 || classes.some((one) => own.includes(one)));
  };
  if (BY_COVER.has(type) && has("cover") && coverClass(thing) === undefined) {
    const called = [...BY_COVER].find((one) => isCalled(thing.name, one));
    if (called !== undefined) return called === type;
  }
  if (TYPES[type](thing, has)) return true;
  const mayBe = BY_NAME.has(type) ? thing.hosted : BY_SWITCH.has(type) && SWITCHES.some((kind) => has(kind));
  return mayBe && isCalled(thing.name, type);
}
