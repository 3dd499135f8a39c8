/** `light` with `schema: json`: one topic with JSON for all that it reports, and one for all that it takes. */
import { flagField, isObject, listField, numberOf } from "../../config/fields.ts";
import type { Message } from "../../states/message.ts";
import type { MqttDraft } from "../draft.ts";
import { COLOUR_SPACES, type ColourSpace, colourFromObject, colourObject } from "./colours.ts";
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
} from "./light.ts";

export function jsonLight(draft: MqttDraft): void {
  const { config } = draft;
  const modes = listField(config, "supported_color_modes");
  const space = COLOUR_SPACES.find((one) => modes.includes(one));
  const hasFlag = flagField(config, "brightness", false);
  const scale = brightnessScale(draft);
  const can: Abilities = {
    scale,
    brightness: modes.length > 0 ? modes.some((mode) => mode !== "onoff" && mode !== "unknown") : hasFlag,
    ...(modes.includes("color_temp") && { temperature: kelvinRange(draft) }),
    ...(space && { colour: space }),
    effects: flagField(config, "effect", false) ? effectsOf(draft) : [],
    transition: flagField(config, "transition", true),
  };
  slots(draft, can, scale);
  lightReadings(draft, can);
  const output = draft.output("command_topic");
  if (!output) return;
  lightCommand(draft, can, [output], ({ on, brightness, temperature, colour, effect, transition }) => {
    // A light with a colour and without `brightness: true` takes both in one.
    const isOne = colour !== undefined && !hasFlag && isRgb(space);
    const level = brightness === undefined ? undefined : ownBrightness(brightness, scale);
    const scaled = isOne ? colour.map((one) => Math.round((one * (brightness ?? 100)) / 100)) : colour;
    const message = {
      state: on ? "ON" : "OFF",
      ...(level !== undefined && !isOne && { brightness: level }),
      ...(temperature !== undefined && { color_temp: temperature }),
      ...(scaled && space && { color: colourObject(space, scaled) }),
      ...(effect !== undefined && { effect }),
      ...(transition !== undefined && { transition }),
    };
    return [{ topic: output.topic, payload: JSON.stringify(message) }];
  });
}

/** Tells whether a light is in that mode now, and not in the other: by its words, or by the one value that it tells. */
function isIn(message: Message, mode: "colour" | "white"): boolean {
  const { color_mode, color, color_temp } = message.object() ?? {};
  if (typeof color_mode === "string")
    return COLOUR_SPACES.some((one) => one === color_mode)
      ? mode === "colour"
      : mode === "white" && ["color_temp", "white"].includes(color_mode);
  const [hasColour, hasWhite] = [isObject(color), numberOf(color_temp) !== undefined];
  return mode === "colour" ? hasColour && !hasWhite : hasWhite && !hasColour;
}

function isRgb(space: ColourSpace | undefined): boolean {
  return space === "rgb" || space === "rgbw" || space === "rgbww";
}

/** A member that is missing or null says nothing; only `state` may be null, for unknown. */
function slots(draft: MqttDraft, can: Abilities, scale: number): void {
  draft.slotOf("on", "state_topic", (message) => {
    const state = message.object()?.state;
    return state === "ON" ? true : state === "OFF" ? false : state === null ? null : undefined;
  });
  const number = (name: string, member: string, read: (value: number) => ReturnType<typeof reportedKelvin>) =>
    draft.slotOf(name, "state_topic", (message) => {
      const value = numberOf(message.object()?.[member]);
      return value === undefined ? undefined : read(value);
    });
  if (can.brightness) number("brightness", "brightness", (value) => reportedBrightness(value, scale));
  const { colour, effects } = can;
  if (can.temperature)
    draft.slotOf("temperature", "state_topic", (message) => {
      if (colour && isIn(message, "colour")) return null;
      const value = numberOf(message.object()?.color_temp);
      return value === undefined ? undefined : reportedKelvin(draft, value);
    });
  if (colour)
    draft.slotOf("colour", "state_topic", (message) =>
      can.temperature && isIn(message, "white") ? null : colourFromObject(colour, message.object()?.color),
    );
  if (effects.length > 0)
    draft.slotOf("effect", "state_topic", (message) => {
      const effect = message.object()?.effect;
      return typeof effect === "string" && effects.includes(effect) ? effect : undefined;
    });
}
