/** `climate` and `water_heater`: a topic for each thing that is set or measured. */

import type { Setting } from "../../model/entity/draft.ts";
import type { SlotValue } from "../../model/entity/entity.ts";
import type { Range } from "../../model/entity/schemas.ts";
import { onOffText, plain, withUnit } from "../../model/entity/words.ts";
import { listField, numberField } from "../config/fields.ts";
import { type MqttDraft, type Output, write } from "./draft.ts";
import { modeSetting, numberSetting } from "./modes.ts";
import { onPayloads } from "./switch.ts";
import { numeric, oneOf } from "./values.ts";

const CLIMATE_MODES = ["auto", "off", "cool", "heat", "dry", "fan_only"];
const HEATER_MODES = ["eco", "electric", "gas", "heat_pump", "high_demand", "performance", "off"];
const ACTIONS = ["off", "preheating", "heating", "cooling", "drying", "idle", "fan", "defrosting"];

export function climate(draft: MqttDraft): void {
  const { config } = draft;
  const range = temperatures(draft, [7, 35], [45, 95]);
  const mode = modeSetting(draft, {
    ...keysOf("mode", "mode_state_topic", "mode_state_template", "mode_command"),
    list: "modes",
    byDefault: CLIMATE_MODES,
  });
  const temperature = (name: string, label: string, key: string) =>
    numberSetting(
      draft,
      {
        ...keysOf(name, `${key}_state_topic`, `${key}_state_template`, `${key}_command`),
        label,
      },
      range,
    );
  const list = (name: string, label: string, key: string, byDefault: readonly string[], options: string) =>
    modeSetting(draft, {
      ...keysOf(name, `${key}_state_topic`, `${key}_state_template`, `${key}_command`),
      label,
      list: options,
      byDefault,
    });
  const settings = [
    power(draft, config),
    mode,
    temperature("temperature", "target temperature", "temperature"),
    temperature("low", "lowest temperature", "temperature_low"),
    temperature("high", "highest temperature", "temperature_high"),
    list("fan_mode", "fan mode", "fan_mode", ["auto", "low", "medium", "high"], "fan_modes"),
    presetSetting(draft, { none: "none" }),
    list("swing_mode", "swing", "swing_mode", ["on", "off"], "swing_modes"),
    list(
      "swing_horizontal_mode",
      "horizontal swing",
      "swing_horizontal_mode",
      ["on", "off"],
      "swing_horizontal_modes",
    ),
    humiditySetting(draft, "humidity", { minimum: 30, maximum: 99 }),
  ];
  measured(draft, "current_temperature", "temperature", range.unit);
  measured(draft, "current_humidity", "humidity", "%");
  draft.slot("action", "action_topic", ["action_template", "value_template"], oneOf(ACTIONS));
  draft.reading("action", plain, { label: "activity" });
  draft.details.push("temperature");
  finish(draft, "Change its mode or what it aims at.", settings);
}

export function waterHeater(draft: MqttDraft): void {
  const range = temperatures(draft, [43, 60], [110, 140]);
  const settings = [
    power(draft, draft.config),
    modeSetting(draft, {
      ...keysOf("mode", "mode_state_topic", "mode_state_template", "mode_command"),
      list: "modes",
      byDefault: HEATER_MODES,
    }),
    numberSetting(
      draft,
      {
        ...keysOf(
          "temperature",
          "temperature_state_topic",
          "temperature_state_template",
          "temperature_command",
        ),
        label: "target temperature",
      },
      range,
    ),
  ];
  measured(draft, "current_temperature", "temperature", range.unit);
  draft.details.push("temperature");
  finish(draft, "Change its mode or its temperature.", settings);
}

/** The target humidity of a climate or a humidifier. */
export function humiditySetting(
  draft: MqttDraft,
  name: string,
  { minimum, maximum, reset }: { minimum: number; maximum: number; reset?: string },
): [Setting | undefined, Output | undefined] {
  return numberSetting(
    draft,
    {
      ...keysOf(
        name,
        "target_humidity_state_topic",
        "target_humidity_state_template",
        "target_humidity_command",
      ),
      label: "target humidity",
      ...(reset !== undefined && { reset }),
    },
    {
      minimum: numberField(draft.config, "min_humidity", minimum),
      maximum: Math.min(numberField(draft.config, "max_humidity", maximum), 100),
      step: 1,
      unit: "%",
    },
  );
}

export function measured(draft: MqttDraft, key: string, label: string, unit: string | undefined): void {
  draft.slot(key, `${key}_topic`, [`${key}_template`, "value_template"], numeric);
  draft.reading(key, withUnit(unit), { label, ...(unit !== undefined && { unit }) });
}

/** @param more `none`: a climate has a word of its own for no preset, which is not among its presets, and which it is also set to */
export function presetSetting(
  draft: MqttDraft,
  more: { none: string } | { reset: string },
): [Setting | undefined, Output | undefined] {
  const options = listField(draft.config, "preset_modes");
  if (options.length === 0) return [undefined, undefined];
  return modeSetting(draft, {
    ...keysOf("preset", "preset_mode_state_topic", "preset_mode_value_template", "preset_mode_command"),
    label: "preset",
    list: "preset_modes",
    byDefault: [],
    ...more,
  });
}

function keysOf(name: string, state: string, template: string, command: string) {
  return {
    name,
    state,
    templates: [template, "value_template"],
    command: `${command}_topic`,
    commandTemplate: `${command}_template`,
  };
}

/** Power has no state of its own: the mode tells it. */
function power(draft: MqttDraft, config: MqttDraft["config"]): [Setting | undefined, Output | undefined] {
  const output = draft.output("power_command_topic", "power_command_template");
  if (!output) return [undefined, undefined];
  const [on, off] = onPayloads(draft);
  const listed = Object.hasOwn(config, "modes") ? listField(config, "modes") : ["off"];
  const setting: Setting = {
    name: "on",
    parameter: { type: "boolean", description: "true: on, false: off" },
    words: (value) => onOffText(value as SlotValue),
    steps: (value) => [write(output, value === true ? on : off)],
    ...(listed.includes("off") && {
      confirmed: {
        slot: "mode",
        by: (asked, reported) => typeof reported === "string" && (reported !== "off") === asked,
      },
    }),
    order: -1,
  };
  return [setting, output];
}

function temperatures(
  draft: MqttDraft,
  celsius: readonly [number, number],
  fahrenheit: readonly [number, number],
): Range & { unit: string } {
  const { config } = draft;
  const isFahrenheit = /^°?F/i.test(draft.text("temperature_unit") ?? "");
  const [minimum, maximum] = isFahrenheit ? fahrenheit : celsius;
  return {
    minimum: numberField(config, "min_temp", minimum),
    maximum: numberField(config, "max_temp", maximum),
    step: Math.max(numberField(config, "temp_step", 1), 0.01),
    unit: isFahrenheit ? "°F" : "°C",
  };
}

export function finish(
  draft: MqttDraft,
  description: string,
  settings: readonly (readonly [Setting | undefined, Output | undefined])[],
): void {
  draft.settings(
    description,
    settings.map(([setting]) => setting),
    settings.map(([, output]) => output),
  );
}
