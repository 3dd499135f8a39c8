/**
 * The question that a person is asked before a call, as one sentence: "Switch Washing machine off?" It is made of the very call that is
 * hashed and run. A sentence says no less than the call does: where a template does not mention each value, it says how many there are.
 */
import type { ActWord, ReadingWord } from "../phrases/languages/phrase-data.ts";
import type { Phrases } from "../phrases/phrases.ts";
import { isObject } from "../protocol/is-object.ts";
import { SLOT_MAX, slotText } from "./slot-text.ts";

/**
 * A call that waits for a person.
 * @property name of the device or machine, as people call it @property hosted a device of the broker, with the actions of
 * discovery/mqtt/kinds @property schema of the action's parameters, as advertised
 */
export type AskedCall = {
  name: string;
  action: string;
  parameters: Readonly<Record<string, unknown>>;
  hosted: boolean;
  schema?: Readonly<Record<string, unknown>> | undefined;
};

/**
 * @property ask the sentence for another name: equal calls of several devices are asked in one sentence
 * @property same equal where two sentences differ in the name alone
 * @property verb what the button says that runs it
 * @property shows the parameter that "this" in the sentence is: its text is shown below, line by line
 * @property isPartial some values are not in the sentence, and are shown below
 */
export type Sentence = {
  ask: (name: string) => string;
  same: string;
  verb: string;
  shows?: string;
  isPartial: boolean;
};

export function describeCall(call: AskedCall, phrases: Phrases): Sentence {
  const described = call.hosted ? ofDevice(call, phrases) : ofMachine(call, phrases);
  return described ?? general(call, phrases);
}

/** An action as it is called, and the number of its values. They are shown below. */
function general({ action, parameters }: AskedCall, phrases: Phrases): Sentence {
  const count = Object.keys(parameters).length;
  const named = slotText(action, phrases);
  return {
    ask: (name) =>
      count === 0
        ? phrases.say("askRunAction", { action: named, name })
        : phrases.say("askRunValues", { action: named, name, count }),
    same: JSON.stringify([action, parameters]),
    verb: phrases.say("verbRun"),
    isPartial: count > 0,
  };
}

/** Actions without values, as discovery/mqtt/kinds names them, and the words for them. */
const ACTS: Readonly<Record<string, ActWord>> = {
  open: "open",
  close: "close",
  stop: "stop",
  lock: "lock",
  unlock: "unlock",
  start: "start",
  pause: "pause",
  dock: "dock",
  locate: "locate",
  press: "press",
  activate: "start",
};
/** `set`, and `set_left` where several parts of a device have one. */
const WITH_PART = new RegExp(`^(set_position|set_tilt|set|${Object.keys(ACTS).join("|")})(?:_(.+))?$`);

/**
 * An action of a device by its parts. @property base `set`; "": none that we know @property part of the device that it is about
 * @property act the word for an action without values
 */
export function actionParts(action: string): {
  base: string;
  part?: string | undefined;
  act?: ActWord | undefined;
} {
  const [, base = "", part] = WITH_PART.exec(action) ?? [];
  return { base, part, act: Object.hasOwn(ACTS, base) ? ACTS[base] : undefined };
}

function ofDevice(call: AskedCall, phrases: Phrases): Sentence | undefined {
  const { parameters } = call;
  const { base, part, act } = actionParts(call.action);
  const named = (name: string) =>
    part === undefined ? name : phrases.parts(name, slotText(part.replaceAll("_", " "), phrases));
  const made = (say: (name: string) => string, verb: string): Sentence => ({
    ask: (name) => say(named(name)),
    same: JSON.stringify([call.action, parameters]),
    verb: phrases.capital(verb),
    isPartial: false,
  });
  const names = Object.keys(parameters);
  if (act !== undefined && names.length === 0)
    return made((name) => phrases.say("askAct", { act: phrases.act(act), name }), phrases.act(act));
  if (!base.startsWith("set") || names.length === 0) return undefined;
  const [only = ""] = names;
  if (names.length === 1 && only === "on" && typeof parameters.on === "boolean") {
    const key = parameters.on ? "askOn" : "askOff";
    return made((name) => phrases.say(key, { name }), phrases.act(parameters.on ? "turn_on" : "turn_off"));
  }
  const settings = names.map((name) => settingOf(name, call, phrases));
  if (names.length > SETTINGS_MAX || settings.some((one) => one === undefined)) return undefined;
  const [first] = settings;
  const verb = phrases.act("set");
  if (first && names.length === 1 && first.isObvious)
    return made((name) => phrases.say("askSet", { name, value: first.value }), verb);
  const text = phrases.parts(...settings.map((one) => `${one?.setting} ${one?.value}`));
  return made((name) => phrases.say("askSettings", { name, settings: text }), verb);
}

/** More values are a table. */
const SETTINGS_MAX = 4;

/** Parameters as discovery/mqtt/kinds names them, with our words and the units that they have in any case. */
const SETTINGS: Readonly<Record<string, readonly [reading: ReadingWord, unit?: string]>> = {
  on: ["state"],
  brightness_pct: ["brightness", "%"],
  kelvin: ["color_temperature", "K"],
  rgb: ["color"],
  position: ["position", "%"],
  tilt: ["tilt", "%"],
  temperature: ["target_temperature"],
  humidity: ["humidity", "%"],
  percentage: ["speed", "%"],
  volume: ["volume"],
  mode: ["mode"],
};
/** These say what they are by their unit. */
const OBVIOUS: ReadonlySet<string> = new Set(["temperature"]);

type SettingText = { setting: string; value: string; isObvious: boolean };

/** @returns undefined: the value does not fit a sentence */
function settingOf(
  name: string,
  { parameters, schema }: AskedCall,
  phrases: Phrases,
): SettingText | undefined {
  const value = valueText(parameters[name], unitOf(name) ?? degreesOf(schema, name), name, phrases);
  if (value === undefined) return undefined;
  return {
    setting: settingText(name, phrases),
    value,
    isObvious: OBVIOUS.has(name) && typeof parameters[name] === "number",
  };
}

/** The unit that a parameter of this name has in any case. */
export function unitOf(name: string): string | undefined {
  return Object.hasOwn(SETTINGS, name) ? SETTINGS[name]?.[1] : undefined;
}

/** A parameter's name in a sentence. */
export function settingText(name: string, phrases: Phrases): string {
  const [reading] = Object.hasOwn(SETTINGS, name) ? (SETTINGS[name] ?? []) : [];
  return reading === undefined ? slotText(name.replaceAll("_", " "), phrases) : phrases.reading(reading);
}

/** @param name of the parameter @returns undefined: the value does not fit a sentence */
export function valueText(
  value: unknown,
  unit: string | undefined,
  name: string,
  phrases: Phrases,
): string | undefined {
  if (typeof value === "boolean") return phrases.figure(value);
  if (typeof value === "number" && Number.isFinite(value)) return phrases.figure(value, unit);
  if (typeof value === "string")
    return value.length > SLOT_MAX ? undefined : slotText(phrases.value(value), phrases);
  return name === "rgb" ? colorText(value) : undefined;
}

/** `#ff8800` */
function colorText(value: unknown): string | undefined {
  if (!Array.isArray(value) || value.length !== 3) return undefined;
  const isByte = (one: unknown): one is number =>
    Number.isInteger(one) && Number(one) >= 0 && Number(one) <= 255;
  return value.every(isByte)
    ? `#${value.map((one) => one.toString(16).padStart(2, "0")).join("")}`
    : undefined;
}

/** The advert has a temperature's unit in its words: "°C, step 0.5". */
function degreesOf(schema: AskedCall["schema"], name: string): string | undefined {
  const { properties } = schema ?? {};
  const property = isObject(properties) && Object.hasOwn(properties, name) ? properties[name] : undefined;
  const { description } = isObject(property) ? property : {};
  return typeof description === "string" ? /°[CF]/.exec(description)?.[0] : undefined;
}

/** @property shows the parameter whose text is shown below @property file the parameter that the sentence names */
type Tool = { ask: ToolKey; verb: VerbKey; shows?: string; file?: string };
type ToolKey = "askRun" | "askWrite" | "askAppend" | "askChange" | "askFiles" | "askSend";
type VerbKey = "verbRun" | "verbWrite" | "verbAppend" | "verbChange" | "verbSend";

/** Tools of a machine, and of EvoClaw's agent (core/tools/own-names.ts). */
const TOOLS: Readonly<Record<string, Tool>> = {
  bash: { ask: "askRun", verb: "verbRun", shows: "command" },
  safe_exec: { ask: "askRun", verb: "verbRun", shows: "command" },
  write: { ask: "askWrite", verb: "verbWrite", shows: "content", file: "path" },
  append: { ask: "askAppend", verb: "verbAppend", shows: "content", file: "path" },
  edit: { ask: "askChange", verb: "verbChange", file: "path" },
  apply_patch: { ask: "askFiles", verb: "verbChange", shows: "patch" },
  prompt: { ask: "askSend", verb: "verbSend", shows: "prompt" },
};

function ofMachine({ action, parameters }: AskedCall, phrases: Phrases): Sentence | undefined {
  const tool = Object.hasOwn(TOOLS, action) ? TOOLS[action] : undefined;
  if (!tool) return undefined;
  const { ask, shows, file } = tool;
  const said = [shows, file].filter((one) => one !== undefined);
  if (said.some((one) => typeof parameters[one] !== "string")) return undefined;
  const named = file === undefined ? "" : slotText(String(parameters[file]), phrases);
  const isCut = file !== undefined && String(parameters[file]).length > SLOT_MAX;
  return {
    ask: (name) => phrases.say(ask, { name, file: named }),
    same: JSON.stringify([action, parameters]),
    verb: phrases.say(tool.verb),
    ...(shows !== undefined && { shows }),
    isPartial: isCut || Object.keys(parameters).some((one) => !said.includes(one)),
  };
}
