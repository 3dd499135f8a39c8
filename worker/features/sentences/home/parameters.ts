/** Parameters of a device's actions that change a setting, and values that fit their schemas. Pure. */

import type { Phrases } from "@edgecall/core/phrases/phrases.ts";
import { isObject } from "@edgecall/core/protocol/is-object.ts";
import type { ActionAdvert } from "@edgecall/core/protocol/mqtt.ts";
import {
  type Color,
  SETTINGS,
  type Setting,
  type Value,
  type White,
} from "@edgecall/core/sentences/frame.ts";
import type { Thing } from "./things.ts";

/** As discovery/mqtt/kinds names them. */
const NAMES: Readonly<Record<Setting, readonly string[]>> = {
  brightness: ["brightness_pct"],
  color: ["rgb"],
  color_temperature: ["kelvin"],
  position: ["position"],
  tilt: ["tilt"],
  temperature: ["temperature"],
  humidity: ["humidity"],
  speed: ["percentage", "fan_speed", "fan_mode"],
  volume: ["volume"],
  mode: ["mode", "preset_mode", "preset", "fan_mode", "effect", "fan_speed"],
};

/** The settings that a value without one may mean, the likeliest first. */
const BY_PERCENT: readonly Setting[] = ["brightness", "position", "speed", "humidity", "volume"];
const BY_DEGREES: readonly Setting[] = ["temperature", "tilt"];
const BY_NUMBER: readonly Setting[] = ["temperature", "brightness", "position", "speed", "volume"];

const RGB: Readonly<Record<Color, readonly [number, number, number]>> = {
  red: [255, 0, 0],
  green: [0, 255, 0],
  blue: [0, 0, 255],
  yellow: [255, 220, 0],
  orange: [255, 128, 0],
  purple: [150, 0, 255],
  pink: [255, 100, 180],
  white: [255, 255, 255],
  turquoise: [64, 224, 208],
  cyan: [0, 255, 255],
  magenta: [255, 0, 255],
  brown: [150, 75, 0],
  black: [0, 0, 0],
};
const KELVIN: Readonly<Record<White, number>> = {
  candle: 1_900,
  warm: 2_700,
  neutral: 4_000,
  cold: 6_500,
  daylight: 6_500,
};

export type Parameter = {
  action: string;
  name: string;
  setting: Setting;
  schema: Readonly<Record<string, unknown>>;
};

/** @returns the parameter of an action; undefined: the device has none, or several of its parts have it */
export function parameterOf(thing: Thing, setting: Setting): Parameter | undefined {
  for (const name of NAMES[setting]) {
    const having = changing(thing).filter((advert) => propertyOf(advert, name) !== undefined);
    const advert = having.find((one) => one.name === "set") ?? (having.length === 1 ? having[0] : undefined);
    const schema = advert && propertyOf(advert, name);
    if (advert && schema) return { action: advert.name, name, setting, schema };
  }
  return undefined;
}

/** The parameter `on`, of the action that switches the whole device. */
export function switchOf(thing: Thing): string | undefined {
  const having = changing(thing).filter((advert) => propertyOf(advert, "on")?.type === "boolean");
  return (having.find(({ name }) => name === "set") ?? (having.length === 1 ? having[0] : undefined))?.name;
}

/** The option of a mode, of whatever parameter has it. */
export function optionOf(thing: Thing, option: string): { action: string; name: string } | undefined {
  for (const setting of ["mode", "speed"] as const)
    for (const name of NAMES[setting])
      for (const advert of changing(thing))
        if (optionsOf(propertyOf(advert, name)).includes(option)) return { action: advert.name, name };
  return undefined;
}

export function actionOf(thing: Thing, name: string): ActionAdvert | undefined {
  return changing(thing).find((advert) => advert.name === name);
}

/** Actions that change a device, without those that change its own settings. */
function changing(thing: Thing): ActionAdvert[] {
  return thing.adverts().filter(({ effect }) => effect !== "read");
}

/** The settings that the value may mean on this device, the likeliest first. */
export function settingsFor(value: Value): readonly Setting[] {
  if ("color" in value) return ["color", "color_temperature"];
  if ("white" in value) return ["color_temperature", "color"];
  if ("option" in value) return ["mode", "speed"];
  if ("bound" in value) return BY_NUMBER;
  if (value.unit === "%") return BY_PERCENT;
  if (value.unit === "K") return ["color_temperature"];
  if (value.unit?.startsWith("°")) return BY_DEGREES;
  return BY_NUMBER;
}

/** All settings that the device has. */
export function settingsOf(thing: Thing): Setting[] {
  return SETTINGS.filter((setting) => parameterOf(thing, setting) !== undefined);
}

export type Fitted = { ok: true; params: Record<string, unknown> } | { ok: false; text: string };

/**
 * A value as the parameter takes it, or why it does not.
 * @param present the device's colour as it reports it, where another one is wanted
 */
export function fitted(
  thing: Thing,
  { name, schema, setting }: Parameter,
  value: Value,
  phrases: Phrases,
  present?: string,
): Fitted {
  const refused = (text: string): Fitted => ({ ok: false, text });
  const at = { name: thing.name, setting: phrases.reading(setting) };
  const options = optionsOf(schema);
  if ("option" in value || options.length > 0) {
    const wanted = "option" in value ? value.option : "number" in value ? String(value.number) : "";
    return options.includes(wanted)
      ? { ok: true, params: { [name]: wanted } }
      : refused(
          phrases.say("valueOneOf", {
            ...at,
            values: phrases.list(
              options.slice(0, 12).map((one) => phrases.value(one)),
              "or",
            ),
          }),
        );
  }
  if (name === "rgb") {
    const rgb = "color" in value ? rgbOf(value.color, present) : "white" in value ? RGB.white : undefined;
    return rgb
      ? { ok: true, params: { rgb: [...rgb] } }
      : refused(phrases.say("cannotActAtAll", { name: thing.name }));
  }
  const { minimum, maximum, type } = schema;
  if (typeof minimum !== "number" || typeof maximum !== "number")
    return refused(phrases.say("cannotActAtAll", { name: thing.name }));
  const number = numberOf(value, minimum, maximum, String(schema.description ?? ""));
  if (number === undefined) return refused(phrases.say("cannotActAtAll", { name: thing.name }));
  // "0 %" of a lamp's brightness is off.
  if (number === 0 && setting === "brightness" && minimum > 0) return { ok: true, params: { on: false } };
  if (number < minimum || number > maximum)
    return refused(
      phrases.say("valueFromTo", { ...at, from: phrases.number(minimum), to: phrases.number(maximum) }),
    );
  return { ok: true, params: { [name]: type === "integer" ? Math.round(number) : number } };
}

const OTHERS = [RGB.red, RGB.green, RGB.blue] as const;

/** @param present `rgb 255, 0, 0`, `hs 240, 100`, `xy 0.7, 0.3`: another one is the next of red, green and blue */
function rgbOf(color: Color | "other", present = ""): readonly number[] {
  if (color !== "other") return RGB[color];
  const [x = 0, y = 0, z = 0] = present.match(/[\d.]+/g)?.map(Number) ?? [];
  let at = 2;
  if (present.startsWith("rgb")) at = x >= y && x >= z ? 0 : y >= z ? 1 : 2;
  else if (present.startsWith("hs")) at = Math.floor(((x + 60) % 360) / 120);
  else if (present.startsWith("xy")) at = x > 0.45 ? 0 : y > 0.4 ? 1 : 2;
  return OTHERS[(at + 1) % OTHERS.length] ?? RGB.red;
}

function numberOf(value: Value, minimum: number, maximum: number, description: string): number | undefined {
  if ("bound" in value) return value.bound === "minimum" ? minimum : maximum;
  if ("white" in value) return Math.min(maximum, Math.max(minimum, KELVIN[value.white]));
  if (!("number" in value)) return undefined;
  const { number, unit } = value;
  const isFahrenheit = /°F/.test(description);
  if (unit === "°F" && !isFahrenheit) return Math.round(((number - 32) / 1.8) * 2) / 2;
  if (unit === "°C" && isFahrenheit) return Math.round(number * 1.8 + 32);
  return number;
}

function propertyOf({ parameters }: ActionAdvert, name: string): Record<string, unknown> | undefined {
  const properties = parameters.properties;
  const found = isObject(properties) && Object.hasOwn(properties, name) ? properties[name] : undefined;
  return isObject(found) ? found : undefined;
}

function optionsOf(schema: Readonly<Record<string, unknown>> | undefined): string[] {
  return Array.isArray(schema?.enum) ? schema.enum.filter((one) => typeof one === "string") : [];
}
