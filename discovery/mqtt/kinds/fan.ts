/** `fan` and `humidifier`. */

import { Quantity } from "@edgecall/core/text/quantity.ts";
import type { Setting } from "../../model/entity/draft.ts";
import type { SlotValue } from "../../model/entity/entity.ts";
import { same } from "../../model/entity/fit.ts";
import { onOffText, plain, withUnit } from "../../model/entity/words.ts";
import { listField, numberField, numberOf, payloadField } from "../config/fields.ts";
import { finish, humiditySetting, measured, presetSetting } from "./climate.ts";
import { type MqttDraft, type Output, write } from "./draft.ts";
import { modeSetting } from "./modes.ts";
import { onSetting } from "./switch.ts";
import { NONE, oneOf, onOff } from "./values.ts";

export function fan(draft: MqttDraft): void {
  const output = draft.output("command_topic", "command_template");
  const settings = [
    [onSetting(draft, output, ["state_value_template"]), output] as const,
    percentage(draft),
    presetSetting(draft, { reset: "payload_reset_preset_mode" }),
    oscillation(draft),
    direction(draft),
  ];
  if (draft.has("percentage_command_topic")) draft.details.push("speed");
  finish(draft, "Switch it on or off, or change its speed.", settings);
}

type Part = [Setting | undefined, Output | undefined];

/** The device has speeds in a range of its own; a percentage is rounded up to one of them. */
function percentage(draft: MqttDraft): Part {
  const low = Math.max(1, numberField(draft.config, "speed_range_min", 1));
  const high = numberField(draft.config, "speed_range_max", 100);
  const reset = payloadField(draft.config, "payload_reset_percentage", NONE);
  const speeds = high - low + 1;
  const percentOf = (speed: number) => Math.trunc(((speed - low + 1) * 100) / speeds);
  const speedOf = (percent: number) => Math.ceil((percent * speeds) / 100 + low - 1);
  draft.slot("percentage", "percentage_state_topic", ["percentage_value_template"], (text) => {
    if (text === reset) return null;
    const speed = numberOf(text);
    const percent = speed === undefined ? -1 : percentOf(speed);
    return percent >= 0 && percent <= 100 ? Quantity.of(percent, speed) : undefined;
  });
  draft.reading("percentage", withUnit("%"), { label: "speed", unit: "%" });
  if (speeds <= 0) {
    draft.leave("speed", "its speed_range_max is below its speed_range_min");
    return [undefined, undefined];
  }
  const output = draft.output("percentage_command_topic", "percentage_command_template");
  if (!output) return [undefined, undefined];
  const setting: Setting = {
    name: "percentage",
    parameter: { type: "integer", minimum: 1, maximum: 100, description: "percent of its speed" },
    words: (value) => `speed ${value} %`,
    steps: (value) => [write(output, speedOf(Number(value)))],
    confirmed: {
      slot: "percentage",
      by: (asked, reported) => reported instanceof Quantity && reported.own === speedOf(Number(asked)),
    },
  };
  return [setting, output];
}

function oscillation(draft: MqttDraft): Part {
  const on = payloadField(draft.config, "payload_oscillation_on", "oscillate_on");
  const off = payloadField(draft.config, "payload_oscillation_off", "oscillate_off");
  draft.slot("oscillation", "oscillation_state_topic", ["oscillation_value_template"], onOff(on, off));
  draft.reading("oscillation", onOffText, { label: "oscillation" });
  const output = draft.output("oscillation_command_topic", "oscillation_command_template");
  if (!output) return [undefined, undefined];
  const setting: Setting = {
    name: "oscillate",
    parameter: { type: "boolean" },
    words: (value) => `oscillation ${onOffText(value as SlotValue)}`,
    steps: (value) => [write(output, value === true ? on : off)],
    confirmed: { slot: "oscillation", by: same },
  };
  return [setting, output];
}

const DIRECTIONS = ["forward", "reverse"];

function direction(draft: MqttDraft): Part {
  draft.slot("direction", "direction_state_topic", ["direction_value_template"], oneOf(DIRECTIONS));
  draft.reading("direction", plain, { label: "direction" });
  const output = draft.output("direction_command_topic", "direction_command_template");
  if (!output) return [undefined, undefined];
  const setting: Setting = {
    name: "direction",
    parameter: { type: "string", enum: DIRECTIONS },
    words: (value) => `direction ${value}`,
    steps: (value) => [write(output, value)],
    confirmed: { slot: "direction", by: same },
  };
  return [setting, output];
}

export function humidifier(draft: MqttDraft): void {
  const output = draft.output("command_topic", "command_template");
  const hasModes = listField(draft.config, "modes").length > 0;
  const settings: Array<readonly [Setting | undefined, Output | undefined]> = [
    [onSetting(draft, output, ["state_value_template"]), output],
    humiditySetting(draft, "humidity", { minimum: 0, maximum: 100, reset: "payload_reset_humidity" }),
    hasModes
      ? modeSetting(draft, {
          name: "mode",
          label: "mode",
          state: "mode_state_topic",
          templates: ["mode_state_template"],
          command: "mode_command_topic",
          commandTemplate: "mode_command_template",
          list: "modes",
          byDefault: [],
          reset: "payload_reset_mode",
        })
      : [undefined, undefined],
  ];
  measured(draft, "current_humidity", "current humidity", "%");
  draft.details.push("humidity");
  finish(draft, "Switch it on or off, or change the humidity that it aims at.", settings);
}
