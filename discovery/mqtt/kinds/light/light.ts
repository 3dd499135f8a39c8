/**
 * `light`. There are three schemas: JSON messages, a topic for each value (`basic`), and templates. The action is the same:
 * `set` with what the light can.
 */

import { Quantity } from "@edgecall/core/text/quantity.ts";
import { type Written, withSteps } from "../../../model/entity/draft.ts";
import type { Expectation, Parameter, Parameters, SlotValue, Values } from "../../../model/entity/entity.ts";
import { same, sameKelvin, sameMireds, sameOnScale } from "../../../model/entity/fit.ts";
import { choice, notAnOption } from "../../../model/entity/schemas.ts";
import { onOffText, plain, withUnit } from "../../../model/entity/words.ts";
import { flagField, listField, numberField } from "../../config/fields.ts";
import type { MqttDraft, Output } from "../draft.ts";
import { topicsOf } from "../draft.ts";
import { type ColourSpace, colourText, type Rgb, sameColour, toSpace } from "./colours.ts";

/** Abilities of a light, and their ranges. */
export type Abilities = {
  brightness: boolean;
  /** The light's own number for a brightness of 100 %. */
  scale: number;
  /** Kelvin. */
  temperature?: { minimum: number; maximum: number };
  colour?: ColourSpace;
  effects: readonly string[];
  transition: boolean;
};

/** A change that was asked of a light, in its own units. */
export type Wanted = {
  on: boolean;
  /** Percent. */
  brightness?: number;
  /** Mired or kelvin, as the light takes it. */
  temperature?: number;
  rgb?: Rgb;
  /** In the light's colour space. */
  colour?: readonly number[];
  effect?: string;
  /** Seconds. */
  transition?: number;
};

/** Longer ones are not waited for. */
const TRANSITION_MAX_S = 60;

/** The kelvin of Home Assistant's lights that name none. */
const KELVIN_MIN = 2_000;
const KELVIN_MAX = 6_535;

export function kelvinRange(draft: MqttDraft): { minimum: number; maximum: number } {
  const { config } = draft;
  const of = (mireds: string, kelvin: string, byDefault: number) => {
    const mired = numberField(config, mireds, 0);
    return mired > 0 ? Math.floor(1_000_000 / mired) : Math.round(numberField(config, kelvin, byDefault));
  };
  return {
    minimum: of("max_mireds", "min_kelvin", KELVIN_MIN),
    maximum: of("min_mireds", "max_kelvin", KELVIN_MAX),
  };
}

/** Both ways: 1,000,000 / value. */
function mired(value: number): number {
  return Math.floor(1_000_000 / value);
}

/** A light's own unit of the colour temperature: kelvin where it says so. */
function isInKelvin(draft: MqttDraft): boolean {
  return flagField(draft.config, "color_temp_kelvin", false);
}

/** The kelvin of a reported colour temperature. */
export function reportedKelvin(draft: MqttDraft, value: number): SlotValue | undefined {
  if (value <= 0) return undefined;
  return Quantity.of(isInKelvin(draft) ? Math.round(value) : mired(value), value);
}

export function brightnessScale(draft: MqttDraft): number {
  return Math.max(1, Math.round(numberField(draft.config, "brightness_scale", 255)));
}

/** A reported brightness as percent. Zero says nothing: a light that is off has no brightness. */
export function reportedBrightness(value: number, scale: number): SlotValue | undefined {
  if (value <= 0) return undefined;
  return Quantity.of(Math.min(100, Math.max(1, Math.round((value * 100) / scale))), value);
}

/** Never zero, which some lights take for off. */
export function ownBrightness(percent: number, scale: number): number {
  return Math.max(1, Math.round((percent * scale) / 100));
}

export function effectsOf(draft: MqttDraft): string[] {
  return listField(draft.config, "effect_list");
}

/** Readings of the slots `on`, `brightness`, `temperature`, `colour` and `effect`. */
export function lightReadings(draft: MqttDraft, can: Abilities): void {
  draft.reading("on", onOffText);
  // A light that is off has none of these, and one in white has no colour.
  const shown = (slot: string) => ({
    label: slot === "temperature" ? "colour temperature" : slot,
    isThere: (value: (name: string) => SlotValue | undefined) =>
      value("on") !== false && value(slot) !== null,
  });
  draft.reading("brightness", withUnit("%"), { ...shown("brightness"), unit: "%" });
  draft.reading("temperature", withUnit("K"), { ...shown("temperature"), unit: "K" });
  if (can.colour) draft.reading("colour", colourText(can.colour), shown("colour"));
  draft.reading("effect", plain, shown("effect"));
  if (can.brightness) draft.details.push("brightness");
  if (can.temperature) draft.details.push("colour temperature");
  if (can.colour) draft.details.push("colour");
}

/** The action `set`. `send` writes what is wanted. */
export function lightCommand(
  draft: MqttDraft,
  can: Abilities,
  outputs: readonly (Output | undefined)[],
  send: (wanted: Wanted, values: Values) => Written[],
): void {
  const { temperature, colour, effects } = can;
  const parameters: Record<string, Parameter> = {
    on: { type: "boolean", description: "true: on, false: off" },
  };
  if (can.brightness)
    parameters.brightness_pct = { type: "integer", minimum: 1, maximum: 100, description: "percent" };
  if (temperature && temperature.minimum <= temperature.maximum)
    parameters.kelvin = { type: "integer", ...temperature, description: "low is warm white" };
  if (colour)
    parameters.rgb = {
      type: "array",
      items: { type: "integer", minimum: 0, maximum: 255 },
      minItems: 3,
      maxItems: 3,
      description: "red, green, blue",
    };
  if (effects.length > 0) parameters.effect = choice(effects);
  if (can.transition)
    parameters.transition_s = {
      type: "number",
      minimum: 0,
      maximum: TRANSITION_MAX_S,
      description: "seconds that the change takes",
    };
  draft.commands.push({
    action: "set",
    description: "Switch it on or off, or change its light. Everything but on: false switches it on.",
    parameters,
    required: [],
    anyOf: true,
    idempotent: true,
    lasting: true,
    wait: "value",
    ...(can.transition && { extraMs: TRANSITION_MAX_S * 1_000 }),
    targets: topicsOf(outputs),
    run: (asked, values) => {
      const wanted = wantedOf(draft, can, asked);
      if ("error" in wanted) return wanted;
      const expects = expectations(draft, can, wanted, asked);
      const reported = expects.filter(({ slots }) => slots.every((slot) => draft.reports(slot)));
      const others = expects.filter((one) => !reported.includes(one)).map(({ words }) => words);
      const run = withSteps(send(wanted, values), reported, others);
      return "error" in run ? run : { ...run, extraMs: (wanted.transition ?? 0) * 1_000 };
    },
  });
}

function wantedOf(draft: MqttDraft, can: Abilities, asked: Parameters): Wanted | { error: string } {
  const { on, brightness_pct, kelvin, rgb, effect, transition_s } = asked;
  const others = ["brightness_pct", "kelvin", "rgb", "effect"].filter((name) => asked[name] !== undefined);
  if (on === false && others.length > 0)
    return { error: `${others[0]}: it cannot be set together with on: false` };
  if (on === undefined && others.length === 0) return { error: "on: transition_s alone changes nothing" };
  if (kelvin !== undefined && rgb !== undefined)
    return { error: "rgb: it cannot be set together with kelvin" };
  if (effect !== undefined && !can.effects.includes(String(effect)))
    return { error: notAnOption("effect", can.effects) };
  // SAFETY: the parameters were checked against the schema.
  const colour = rgb as Rgb | undefined;
  return {
    on: on !== false,
    ...(typeof brightness_pct === "number" && { brightness: brightness_pct }),
    ...(typeof kelvin === "number" && { temperature: isInKelvin(draft) ? kelvin : mired(kelvin) }),
    ...(colour && can.colour && { rgb: colour, colour: toSpace(can.colour, colour) }),
    ...(effect !== undefined && { effect: String(effect) }),
    ...(typeof transition_s === "number" && { transition: transition_s }),
  };
}

function expectations(draft: MqttDraft, can: Abilities, wanted: Wanted, asked: Parameters): Expectation[] {
  const { on, brightness, temperature, rgb, colour, effect } = wanted;
  const { kelvin } = asked;
  const expects: Expectation[] = [];
  if (brightness !== undefined)
    expects.push(
      draft.expectation(
        "brightness",
        ownBrightness(brightness, can.scale),
        `brightness ${brightness} %`,
        sameOnScale(can.scale),
      ),
    );
  if (typeof kelvin === "number")
    expects.push(
      draft.expectation(
        "temperature",
        temperature,
        `colour temperature ${kelvin} K`,
        isInKelvin(draft) ? sameKelvin : sameMireds,
      ),
    );
  const space = can.colour;
  if (rgb && colour && space)
    expects.push(
      draft.expectation("colour", rgb, `colour ${colourText(space)(colour)}`, (_, reported) =>
        sameColour(space, rgb, reported),
      ),
    );
  if (effect !== undefined) expects.push(draft.expectation("effect", effect, `effect ${effect}`, same));
  if (asked.on !== undefined || expects.length === 0)
    return [draft.expectation("on", on, onOffText(on), same), ...expects];
  // A light that was on need not say so again, but it must not say that it is off.
  return expects.map((expect) => ({
    ...expect,
    met: (fresh, before) => (fresh("on") ?? before("on"))?.value !== false && expect.met(fresh, before),
  }));
}
