/** The tests of OHF-Voice/intents: the sentences of device intents, said to the small home of their file. */

import { LANGUAGES, type Language } from "@edgecall/core/text/languages.ts";
import { parse } from "yaml";
import type { Home, Kind } from "../homes.ts";
import type { Item } from "../item.ts";
import type { Act, Meaning, Verb } from "../meaning.ts";
import { namesIn, textOf } from "./files.ts";

interface Entity {
  name: string;
  domain?: string;
  area?: string;
  floor?: string;
  state?: string;
  attributes?: { device_class?: string };
}
type Slots = Record<string, string | number | string[]>;
interface File {
  areas?: { name: string; floor?: string }[];
  floors?: { name: string }[];
  entities?: Entity[];
  tests: { sentences: string[]; slots?: Slots }[];
}

const KINDS: Record<string, Kind> = {
  climate: "climate",
  cover: "cover",
  fan: "fan",
  lawn_mower: "mower",
  light: "light",
  lock: "lock",
  media_player: "media",
  switch: "switch",
  vacuum: "vacuum",
  valve: "valve",
  scene: "scene",
  script: "scene",
};
/** Folders that are not named like our language. */
const FOLDERS: Record<string, string> = { zh: "zh-CN" };
/** Persons have no device, and a room's speaker is what edgecall does not have. */
const LEFT_OUT = ["name_where.yaml", "name_zone.yaml", "context_area.yaml"];

/** All sentences of the intents below, in ten languages. */
export function intentsItems(folder: string): Item[] {
  return LANGUAGES.flatMap((language) =>
    Object.keys(INTENTS).flatMap((intent) => {
      const path = ["tests", FOLDERS[language] ?? language, intent];
      return namesIn(folder, ...path)
        .filter((name) => name.endsWith(".yaml") && !LEFT_OUT.includes(name))
        .flatMap((name) => {
          const file = withFloors(parse(textOf(folder, ...path, name)) as File, language);
          const home = homeOf(file);
          return file.tests
            .filter((test) => !isOfPerson(test, file))
            .flatMap(({ sentences, slots = {} }) => {
              const means = INTENTS[intent]?.(slots, file) ?? [];
              return sentences.map((text) => ({ language, intent, text, means, home }));
            });
        });
    }),
  );
}

/** In two languages a floor's name is only its number there, and each sentence adds the word. */
const FLOORS: Partial<Record<Language, [RegExp, string]>> = {
  zh: [/^.$/, "楼"],
  cs: [/^(prvn|druh|třet)/, " patře"],
};

function withFloors(file: File, language: Language): File {
  const [number, word] = FLOORS[language] ?? [/^$/, ""];
  const named = (name: string) => (number.test(name) ? `${name}${word}` : name);
  const all = <T extends { floor?: unknown }>(ones?: T[]): T[] =>
    (ones ?? []).map((one) => (typeof one.floor === "string" ? { ...one, floor: named(one.floor) } : one));
  return {
    areas: all(file.areas),
    floors: (file.floors ?? []).map(({ name }) => ({ name: named(name) })),
    entities: all(file.entities),
    tests: file.tests.map((test) => ({ ...test, slots: all([test.slots ?? {}])[0] ?? {} })),
  };
}

/** "is anyone home?" */
const isOfPerson = ({ slots = {} }: File["tests"][number], { entities = [] }: File): boolean =>
  slots.domain === "person" ||
  entities.some(({ domain, state }) => domain === "person" && state !== undefined && state === slots.state);

function homeOf({ areas = [], floors = [], entities = [] }: File): Home {
  return {
    areas: areas.map(({ name }) => name),
    floors: floors.map(({ name }) => name),
    devices: entities
      .filter(({ domain }) => domain !== "person")
      .map(({ name, domain = "", area, floor, attributes }) => ({
        id: name,
        name,
        ...(area === undefined ? {} : { area }),
        ...(area === undefined && floor === undefined
          ? {}
          : { floor: floor ?? areas.find((one) => one.name === area)?.floor ?? "" }),
        kind: KINDS[domain] ?? "sensor",
        types: [attributes?.device_class ?? ""].filter((type) => type !== ""),
        readings: ["state", "temperature"],
      })),
  };
}

/** What the slots mean as an intent of that name. Several: each is right. */
type ToMeanings = (slots: Slots, file: File) => Meaning[];

const acts = (act: Omit<Act, "to">, slots: Slots, type: string): Meaning[] =>
  targetsOf(slots, type).map((to) => ({ acts: [{ ...act, to: [to] }] }));

/** A name, or the things of a type with their place: "light@Kitchen". A list of classes is any of them. */
function targetsOf(slots: Slots, type: string): string[] {
  if (slots.name !== undefined) return [String(slots.name)];
  const classes = slots.device_class === undefined ? [type] : String(slots.device_class).split(",");
  const place = slots.area ?? slots.floor;
  return classes.map((name) => (place === undefined ? name : `${name}@${place}`));
}

/** "*" where the slots do not say it. */
const domainOf = ({ domain, device_class, name }: Slots, { entities = [] }: File): string =>
  String(
    domain ?? (device_class === undefined ? undefined : "cover") ?? entityOf(entities, name)?.domain ?? "*",
  );
const entityOf = (entities: Entity[], name: unknown): Entity | undefined =>
  entities.find((entity) => entity.name === name);

/** What on and off are called at a cover, a valve and a lock. A peer's "on" of a lock locks it. */
const turn =
  (on: boolean): ToMeanings =>
  (slots, file) => {
    const domain = domainOf(slots, file);
    const words: Partial<Record<string, [Verb, Verb]>> = {
      cover: ["open", "close"],
      valve: ["open", "close"],
      lock: ["lock", "unlock"],
    };
    const verb = words[domain]?.[on ? 0 : 1] ?? (on ? "on" : "off");
    const verbs: Verb[] = domain === "*" ? [verb, on ? "open" : "close"] : [verb];
    return verbs.flatMap((one) => acts({ do: one }, slots, domain));
  };

const COLOUR_TONES: Record<number, string> = {
  1900: "candle",
  2700: "warm",
  4000: "cold",
  6500: "daylight",
};

const INTENTS: Record<string, ToMeanings> = {
  HassTurnOn: turn(true),
  HassTurnOff: turn(false),
  HassLightSet: (slots) => {
    const values: Partial<Act>[] = [];
    if (slots.brightness !== undefined) {
      values.push({ what: "brightness", value: Number(slots.brightness) });
      if (slots.brightness === 100) values.push({ what: "brightness", value: "maximum" });
      if (slots.brightness === 1) values.push({ what: "brightness", value: "minimum" });
    } else if (slots.color !== undefined) values.push({ what: "colour", value: String(slots.color) });
    else {
      const kelvin = Number(slots.temperature);
      values.push({ what: "colour temperature", value: kelvin });
      const tone = COLOUR_TONES[kelvin];
      if (tone !== undefined) values.push({ what: "colour temperature", value: tone });
    }
    return values.flatMap((value) => [
      ...acts({ do: "set", ...value }, slots, "light"),
      ...((slots.name ?? slots.area ?? slots.floor) === undefined
        ? acts({ do: "set", ...value }, slots, "*")
        : []),
    ]);
  },
  // Some tests leave the value open.
  HassSetPosition: (slots, file) =>
    acts(
      {
        do: "set",
        what: "position",
        ...((slots.position ?? undefined) === undefined ? {} : { value: Number(slots.position) }),
      },
      slots,
      domainOf(slots, file),
    ),
  HassFanSetSpeed: (slots) =>
    acts({ do: "set", what: "speed", value: Number(slots.percentage) }, slots, "fan"),
  HassClimateSetTemperature: (slots) =>
    acts({ do: "set", what: "temperature", value: Number(slots.temperature) }, slots, "*"),
  HassSetVolume: (slots) =>
    ["media", "*"].flatMap((type) =>
      acts({ do: "set", what: "volume", value: Number(slots.volume_level) }, slots, type),
    ),
  HassSetVolumeRelative: (slots) => {
    const up = String(slots.volume_step) === "up" || Number(slots.volume_step) > 0;
    return ["media", "*"].flatMap((type) =>
      acts({ do: up ? "raise" : "lower", what: "volume" }, slots, type),
    );
  },
  HassVacuumStart: (slots) => acts({ do: "start" }, slots, "vacuum"),
  HassVacuumReturnToBase: (slots) => acts({ do: "return" }, slots, "vacuum"),
  HassLawnMowerStartMowing: (slots) => acts({ do: "start" }, slots, "mower"),
  HassLawnMowerDock: (slots) => acts({ do: "return" }, slots, "mower"),
  HassClimateGetTemperature: (slots) =>
    ["temperature", "target_temperature"].flatMap((ask) =>
      targetsOf(slots, "*").map((of) => ({ ask, of: [of] })),
    ),
  HassGetState: (slots, file) => {
    const state = stateOf(slots, file);
    const type = String(slots.domain ?? "*");
    // A locked door is a lock's.
    const types = type === "lock" ? ["lock", "door"] : [type];
    return types
      .flatMap((one) => targetsOf(slots, one))
      .map((of) => ({
        ask: state === undefined ? "*" : "state",
        ...(state === undefined ? {} : { is: state }),
        of: [of],
      }));
  },
};

/** States of binary sensors by their class, off and on. */
const BINARY: Record<string, [string, string]> = {
  door: ["closed", "open"],
  garage_door: ["closed", "open"],
  window: ["closed", "open"],
  opening: ["closed", "open"],
  lock: ["locked", "unlocked"],
  motion: ["no_motion", "motion"],
  moisture: ["dry", "wet"],
  connectivity: ["offline", "online"],
};

/** The state that is asked. Undefined where our words for it are not the peer's: then the device alone counts. */
function stateOf({ state, name, domain }: Slots, { entities = [] }: File): string | undefined {
  if (state === undefined) return;
  const entity = entityOf(entities, name);
  if ((entity?.domain ?? domain) !== "binary_sensor") return String(state);
  return BINARY[entity?.attributes?.device_class ?? ""]?.[state === "on" ? 1 : 0];
}
