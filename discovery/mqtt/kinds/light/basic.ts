/** `light` with a topic for each value. */

import { Quantity } from "@edgecall/core/text/quantity.ts";
import type { Written } from "../../../model/entity/draft.ts";
import { numberOf } from "../../config/fields.ts";
import { type MqttDraft, type Output, write } from "../draft.ts";
import { onPayloads } from "../switch.ts";
import { oneOf, onOff } from "../values.ts";
import { COLOUR_SPACES, type ColourSpace, colourFromText } from "./colours.ts";
import {
  type Abilities,
  brightnessScale,
  effectsOf,
  kelvinRange,
  lightCommand,
  lightReadings,
  ownBrightness,
  reportedBrightness,
  reportedKelvin,
  type Wanted,
} from "./light.ts";

export function basicLight(draft: MqttDraft): void {
  const output = {
    on: draft.output("command_topic"),
    brightness: draft.output("brightness_command_topic", "brightness_command_template"),
    temperature: draft.output("color_temp_command_topic", "color_temp_command_template"),
    effect: draft.output("effect_command_topic", "effect_command_template"),
  };
  const colours = COLOUR_SPACES.flatMap((space) => {
    const found = draft.output(`${space}_command_topic`, `${space}_command_template`);
    return found ? [{ space, output: found }] : [];
  });
  const [colour] = colours;
  const scale = brightnessScale(draft);
  const can: Abilities = {
    brightness: output.brightness !== undefined,
    scale,
    ...(output.temperature && { temperature: kelvinRange(draft) }),
    ...(colour && { colour: colour.space }),
    effects: output.effect ? effectsOf(draft) : [],
    transition: false,
  };
  const [on, off] = onPayloads(draft);
  slots(draft, can, scale, on, off);
  lightReadings(draft, can);
  const main = output.on;
  if (!main) return;
  const type = draft.text("on_command_type") ?? "last";
  const all = [main, output.brightness, output.temperature, output.effect, colour?.output];
  lightCommand(draft, can, all, (wanted, values) => {
    if (!wanted.on) return [write(main, off)];
    const known = values("brightness")?.value;
    // Such a light has no "on": a brightness switches it on.
    const brightness =
      wanted.brightness ??
      (type === "brightness" ? (known instanceof Quantity ? known.value : 100) : undefined);
    const parts = [
      ...(colour && wanted.colour ? [colourMessage(colour.output, colour.space, wanted)] : []),
      ...(output.brightness && brightness !== undefined
        ? [write(output.brightness, ownBrightness(brightness, scale))]
        : []),
      ...(output.temperature && wanted.temperature !== undefined
        ? [write(output.temperature, wanted.temperature)]
        : []),
      ...(output.effect && wanted.effect !== undefined ? [write(output.effect, wanted.effect)] : []),
    ];
    if (type === "first") return [write(main, on), ...parts];
    if (type === "brightness" && output.brightness) return parts;
    return [...parts, write(main, on)];
  });
}

/** Names of the numbers in a template of each space. */
const NAMES = {
  rgb: ["red", "green", "blue"],
  rgbw: ["red", "green", "blue", "white"],
  rgbww: ["red", "green", "blue", "cold_white", "warm_white"],
  hs: ["hue", "sat"],
  xy: ["x", "y"],
} as const;

function colourMessage(output: Output, space: ColourSpace, { colour = [] }: Wanted): Written {
  const variables = Object.fromEntries(NAMES[space].map((name, at) => [name, colour[at]]));
  return write(output, colour.join(","), variables);
}

function slots(draft: MqttDraft, can: Abilities, scale: number, on: string, off: string): void {
  draft.slot("on", "state_topic", ["state_value_template"], onOff(on, off));
  if (can.brightness)
    draft.slot("brightness", "brightness_state_topic", ["brightness_value_template"], (text) => {
      const value = numberOf(text);
      return value === undefined ? undefined : reportedBrightness(value, scale);
    });
  if (can.temperature)
    draft.slot("temperature", "color_temp_state_topic", ["color_temp_value_template"], (text) => {
      const value = numberOf(text);
      return value === undefined ? undefined : reportedKelvin(draft, value);
    });
  const { colour } = can;
  if (colour)
    draft.slot("colour", `${colour}_state_topic`, [`${colour}_value_template`], (text) =>
      colourFromText(colour, text),
    );
  if (can.effects.length > 0)
    draft.slot("effect", "effect_state_topic", ["effect_value_template"], oneOf(can.effects));
}
