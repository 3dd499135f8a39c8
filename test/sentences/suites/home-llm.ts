/** The phrases of acon96/home-llm: templates of actions and of questions about a state, each with a name of its list. */
import { createHash } from "node:crypto";
import type { Language } from "@edgecall/core/text/languages.ts";
import type { Home, HomeDevice, Kind } from "../homes.ts";
import type { Item } from "../item.ts";
import type { Act, Meaning } from "../meaning.ts";
import { rowsOf, textOf } from "./files.ts";

const FOLDERS: Partial<Record<Language, string>> = {
  en: "english",
  de: "german",
  fr: "french",
  es: "spanish",
  pl: "polish",
};
const COLOURS: Partial<Record<Language, Record<string, string>>> = {
  en: { red: "red", blue: "blue", green: "green" },
  de: { red: "rot", blue: "blau", green: "grün" },
  fr: { red: "rouge", blue: "bleu", green: "vert" },
  es: { red: "rojo", blue: "azul", green: "verde" },
  pl: { red: "czerwony", blue: "niebieski", green: "zielony" },
};
const KINDS: Record<string, [Kind, string[]]> = {
  blinds: ["cover", ["blind"]],
  climate: ["climate", []],
  fan: ["fan", []],
  garage_door: ["cover", ["garage_door"]],
  light: ["light", []],
  lock: ["lock", []],
  media_player: ["media", []],
  switch: ["switch", []],
  vacuum: ["vacuum", []],
};
/** A service as an act. The next track and silence are not here: edgecall has no such action. */
const SERVICES: Record<string, Omit<Act, "to">> = {
  turn_on: { do: "on" },
  turn_off: { do: "off" },
  toggle: { do: "toggle" },
  open_cover: { do: "open" },
  close_cover: { do: "close" },
  stop_cover: { do: "stop" },
  increase_speed: { do: "raise", what: "speed" },
  decrease_speed: { do: "lower", what: "speed" },
  lock: { do: "lock" },
  unlock: { do: "unlock" },
  volume_up: { do: "raise", what: "volume" },
  volume_down: { do: "lower", what: "volume" },
  media_play: { do: "start" },
  media_pause: { do: "pause" },
  media_stop: { do: "stop" },
  start: { do: "start" },
  stop: { do: "stop" },
  pause: { do: "pause" },
  return_to_base: { do: "return" },
  set_temperature: { do: "set", what: "temperature" },
  set_humidity: { do: "set", what: "humidity" },
  set_hvac_mode: { do: "set", what: "mode" },
  set_fan_mode: { do: "set" },
};
const ASKED = ["blinds", "fan", "garage_door", "light", "lock", "media_player"];
/** A home has the devices that are spoken of, and so many others. */
const OTHERS = 8;

export function homeLlmItems(folder: string): Item[] {
  return Object.entries(FOLDERS).flatMap(([language, name]) =>
    itemsOf(language as Language, (pile) =>
      rowsOf(textOf(folder, "data/piles", name, `pile_of_${pile}.csv`)),
    ),
  );
}

function itemsOf(language: Language, pile: (name: string) => Record<string, string>[]): Item[] {
  const names = pile("device_names").flatMap(({ device_name = "", description = "" }) => {
    const kind = KINDS[device_name.split(".")[0] ?? ""];
    return kind === undefined ? [] : [deviceOf(description, device_name.split(".")[0] ?? "")];
  });
  const actions = pile("templated_actions").flatMap(({ device_type = "", service = "", phrase = "" }) => {
    const types = device_type.split("|");
    const services = service.split("|").map((one) => SERVICES[one]);
    if (types.some((type) => KINDS[type] === undefined) || services.includes(undefined)) return [];
    const devices = types.map((type, at) => pick(names.filter(ofType(type)), phrase, at));
    const { text, value } = filled(phrase, devices, language);
    const acts = services.map((act, at): Act => {
      const to = phrase.includes("<device_name") ? (devices[at]?.id ?? "") : "*";
      return { ...(act ?? { do: "other" }), ...(at === 0 ? value : {}), to: [to] };
    });
    const means: Meaning = { acts };
    const intent = types.length > 1 ? "several acts" : `act ${device_type}`;
    return [{ language, intent, text, means, home: homeOf(devices, names, phrase) }];
  });
  const questions = pile("status_requests").flatMap(({ device_type = "", phrase = "" }) => {
    if (!ASKED.includes(device_type) || !phrase.includes("<device_name>")) return [];
    const device = pick(names.filter(ofType(device_type)), phrase, 0);
    const { text } = filled(phrase, [device], language);
    const means: Meaning = { ask: "*", of: [device.id] };
    return [{ language, intent: `ask ${device_type}`, text, means, home: homeOf([device], names, phrase) }];
  });
  return [...actions, ...questions];
}

function deviceOf(name: string, type: string): HomeDevice {
  const [kind, types] = KINDS[type] ?? ["sensor", []];
  return { id: name, name, kind, types: [...types, type], readings: ["state"] };
}

const ofType =
  (type: string) =>
  ({ types }: HomeDevice): boolean =>
    types?.includes(type) ?? false;

/** The same one in each run. */
function pick<T>(all: T[], phrase: string, at: number): T {
  const found = all[createHash("sha256").update(`${at} ${phrase}`).digest().readUInt32BE() % all.length];
  if (found === undefined) throw new Error(`no name for: ${phrase}`);
  return found;
}

/** A phrase with its names and values, and what the value sets. */
function filled(phrase: string, devices: HomeDevice[], language: Language) {
  const value: Partial<Act> = {};
  const put = (number: number, what?: string): string => {
    Object.assign(value, { do: "set", value: number }, what === undefined ? {} : { what });
    return String(number);
  };
  const text = phrase
    .replace("<device_name>", devices[0]?.name ?? "")
    .replace(/<device_name(\d)>/g, (_, at) => devices[Number(at) - 1]?.name ?? "")
    .replace("<brightness>", () => put(40, "brightness"))
    .replace("<temp_f>", () => put(68))
    .replace("<temp_c>", () => put(20))
    .replace("<humidity>", () => put(45))
    .replace("<hvac_mode>", "auto")
    .replace("<fan_mode>", "auto")
    .replace("<color>", () => {
      const [colour, word] = pick(Object.entries(COLOURS[language] ?? {}), phrase, 9);
      Object.assign(value, { do: "set", what: "colour", value: colour });
      return word;
    });
  return { text, value };
}

function homeOf(devices: HomeDevice[], names: HomeDevice[], phrase: string): Home {
  const others = Array.from({ length: OTHERS }, (_, at) => pick(names, phrase, at + 10));
  const all = [...devices, ...others];
  return { areas: [], devices: all.filter(({ id }, at) => all.findIndex((one) => one.id === id) === at) };
}
