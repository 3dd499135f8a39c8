/** `light` with `schema: template`: one topic each way, and a template for each value. */
import { numberOf } from "../../config/fields.ts";
import { Unreadable, valueReader } from "../../states/templates.ts";
import { type MqttDraft, write } from "../draft.ts";
import { oneOf, onOff } from "../values.ts";
import {
  type Abilities,
  effectsOf,
  kelvinRange,
  lightCommand,
  lightReadings,
  ownBrightness,
  reportedBrightness,
  reportedKelvin,
} from "./light.ts";

const SCALE = 255;

const COLOUR_KEYS = ["red_template", "green_template", "blue_template"];

export function templateLight(draft: MqttDraft): void {
  const hasColour = COLOUR_KEYS.every((key) => draft.has(key));
  const can: Abilities = {
    scale: SCALE,
    brightness: draft.has("brightness_template"),
    ...(draft.has("color_temp_template") && { temperature: kelvinRange(draft) }),
    ...(hasColour && { colour: "rgb" as const }),
    effects: effectsOf(draft),
    transition: true,
  };
  slots(draft, can);
  lightReadings(draft, can);
  if (!draft.has("command_on_template") || !draft.has("command_off_template")) {
    draft.leave("", "it has no templates for its commands");
    return;
  }
  const [on, off] = ["command_on_template", "command_off_template"].map((key) =>
    draft.output("command_topic", key),
  );
  if (!on || !off) return;
  lightCommand(draft, can, [on, off], (wanted) => {
    const { brightness, temperature, rgb, effect, transition } = wanted;
    const [red, green, blue] = rgb ?? [];
    const variables = {
      state: wanted.on,
      ...(brightness !== undefined && { brightness: ownBrightness(brightness, SCALE) }),
      ...(temperature !== undefined && { color_temp: temperature }),
      ...(rgb && { red, green, blue }),
      ...(effect !== undefined && { effect }),
      ...(transition !== undefined && { transition }),
    };
    return [write(wanted.on ? on : off, null, variables)];
  });
}

function slots(draft: MqttDraft, can: Abilities): void {
  if (draft.has("state_template")) draft.slot("on", "state_topic", ["state_template"], onOff("on", "off"));
  const number = (name: string, key: string, read: (value: number) => ReturnType<typeof reportedKelvin>) =>
    draft.slot(name, "state_topic", [key], (text) => {
      const value = numberOf(text);
      return value === undefined ? undefined : read(value);
    });
  if (can.brightness)
    number("brightness", "brightness_template", (value) => reportedBrightness(value, SCALE));
  if (can.temperature) number("temperature", "color_temp_template", (value) => reportedKelvin(draft, value));
  if (can.colour) {
    const readers = COLOUR_KEYS.map((key) => valueReader(draft.text(key)));
    draft.slotOf("colour", "state_topic", (message) => {
      const read = readers.map((reader) => reader.read(message));
      const unreadable = read.find((one) => one instanceof Unreadable);
      if (unreadable) return unreadable;
      const numbers = read.map(numberOf);
      const known = numbers.filter((one) => one !== undefined);
      return known.length === numbers.length ? known : undefined;
    });
  }
  if (can.effects.length > 0 && draft.has("effect_template"))
    draft.slot("effect", "state_topic", ["effect_template"], oneOf(can.effects));
}
