/** `climate`, `humidifier`, `water_heater` and `fan`: several things that are set, each by a service of its own. */
import { Quantity } from "@edgecall/core/text/quantity.ts";
import type { Setting, Written } from "../../model/entity/draft.ts";
import type { Parameters, SlotValue } from "../../model/entity/entity.ts";
import { same, sameNumber } from "../../model/entity/fit.ts";
import { bounded, numberFormatter, type Range } from "../../model/entity/schemas.ts";
import { onOffText, plain, withUnit } from "../../model/entity/words.ts";
import { chosen, oneOf } from "./choices.ts";
import type { HomeAssistantDraft } from "./draft.ts";
import { onSetting, switching } from "./switch.ts";

export function climate(draft: HomeAssistantDraft): void {
  const modes = draft.list("hvac_modes");
  draft.stateSlot("mode", (state) => modes.find((mode) => mode === state));
  draft.reading("mode", plain);
  const range = temperatures(draft, 7, 35);
  const settings = [
    draft.can(128) && draft.can(256) && modes.includes("off")
      ? switching(draft, {
          slot: "mode",
          by: (asked, reported) => typeof reported === "string" && (reported !== "off") === asked,
        })
      : undefined,
    oneOf("mode", "mode", modes, (hvac_mode) => draft.call("set_hvac_mode", { hvac_mode })),
    draft.can(1)
      ? aim(draft, "temperature", "target temperature", "temperature", range, (temperature) => [
          draft.call("set_temperature", { temperature }),
        ])
      : undefined,
    draft.can(2)
      ? aim(draft, "low", "lowest temperature", "target_temp_low", range, (_, all) => both(draft, all))
      : undefined,
    // Both ends of a range are one call.
    draft.can(2)
      ? aim(draft, "high", "highest temperature", "target_temp_high", range, (_, all) =>
          all.low === undefined ? both(draft, all) : [],
        )
      : undefined,
    listed(draft, 8, "fan_mode", "fan mode", "fan_mode", "fan_modes", "set_fan_mode"),
    listed(draft, 16, "preset", "preset", "preset_mode", "preset_modes", "set_preset_mode"),
    listed(draft, 32, "swing_mode", "swing", "swing_mode", "swing_modes", "set_swing_mode"),
    draft.can(4) ? humidity(draft) : undefined,
  ];
  draft.measured("current_temperature", "current_temperature", "temperature", range.unit);
  draft.measured("current_humidity", "current_humidity", "humidity", "%");
  draft.choiceSlot("action", "hvac_action", ACTIONS);
  draft.reading("action", plain, { label: "activity", isThere: (value) => value("action") !== null });
  draft.details.push("temperature");
  draft.addSettings("Change its mode or what it aims at.", settings, draft.targets);
}

const ACTIONS = ["off", "preheating", "heating", "cooling", "drying", "idle", "fan", "defrosting"];

export function humidifier(draft: HomeAssistantDraft): void {
  const settings = [
    onSetting(draft),
    humidity(draft),
    listed(draft, 1, "mode", "mode", "mode", "available_modes", "set_mode"),
  ];
  draft.measured("current_humidity", "current_humidity", "current humidity", "%");
  draft.details.push("humidity");
  draft.addSettings("Switch it on or off, or change the humidity that it aims at.", settings, draft.targets);
}

export function waterHeater(draft: HomeAssistantDraft): void {
  draft.danger = "it heats water";
  const range = temperatures(draft, 43, 60);
  const modes = draft.can(2) ? draft.list("operation_list") : [];
  draft.stateSlot("mode", (state) => [...modes, "off"].find((mode) => mode === state));
  draft.reading("mode", plain);
  const settings = [
    oneOf("mode", "mode", modes, (operation_mode) => draft.call("set_operation_mode", { operation_mode })),
    draft.can(1)
      ? aim(draft, "temperature", "target temperature", "temperature", range, (temperature) => [
          draft.call("set_temperature", { temperature }),
        ])
      : undefined,
    draft.can(8)
      ? switching(draft, {
          slot: "mode",
          by: (asked, reported) => typeof reported === "string" && (reported !== "off") === asked,
        })
      : undefined,
    draft.can(4) ? away(draft) : undefined,
  ];
  draft.measured("current_temperature", "current_temperature", "temperature", range.unit);
  draft.addSettings("Change its mode or its temperature.", settings, draft.targets);
}

function away(draft: HomeAssistantDraft): Setting {
  draft.slot("away", ({ attributes: { away_mode } }) =>
    away_mode === "on" ? true : away_mode === "off" ? false : null,
  );
  draft.reading("away", onOffText, { label: "away mode", isThere: (value) => value("away") !== null });
  return {
    name: "away",
    parameter: { type: "boolean" },
    words: (value) => `away mode ${onOffText(value as SlotValue)}`,
    steps: (away_mode) => [draft.call("set_away_mode", { away_mode })],
    confirmed: { slot: "away", by: same },
  };
}

export function fan(draft: HomeAssistantDraft): void {
  const step = Math.max(draft.number("percentage_step", 1), 1);
  if (draft.can(1)) {
    draft.numberSlot("percentage", "percentage");
    draft.reading("percentage", withUnit("%"), { label: "speed", unit: "%" });
    draft.details.push("speed");
  }
  if (draft.can(2)) {
    draft.slot("oscillation", ({ attributes: { oscillating } }) =>
      typeof oscillating === "boolean" ? oscillating : null,
    );
    draft.reading("oscillation", onOffText, { label: "oscillation" });
  }
  const settings: (Setting | undefined)[] = [
    onSetting(draft),
    draft.can(1)
      ? {
          name: "percentage",
          parameter: { type: "integer", minimum: 1, maximum: 100, description: "percent of its speed" },
          words: (value) => `speed ${value} %`,
          steps: (percentage) => [draft.call("set_percentage", { percentage })],
          // It is rounded to one of its speeds.
          confirmed: {
            slot: "percentage",
            by: (asked, value) =>
              value instanceof Quantity && Math.abs(value.value - Number(asked)) < step && value.value > 0,
          },
        }
      : undefined,
    listed(draft, 8, "preset", "preset", "preset_mode", "preset_modes", "set_preset_mode"),
    draft.can(2)
      ? {
          name: "oscillate",
          parameter: { type: "boolean" },
          words: (value) => `oscillation ${onOffText(value as SlotValue)}`,
          steps: (oscillating) => [draft.call("oscillate", { oscillating })],
          confirmed: { slot: "oscillation", by: same },
        }
      : undefined,
    draft.can(4) ? direction(draft) : undefined,
  ];
  draft.addSettings("Switch it on or off, or change its speed.", settings, draft.targets);
}

function direction(draft: HomeAssistantDraft): Setting | undefined {
  return chosen(draft, DIRECTIONS, { name: "direction", label: "direction" }, (direction) =>
    draft.call("set_direction", { direction }),
  );
}

const DIRECTIONS = ["forward", "reverse"];

function temperatures(draft: HomeAssistantDraft, minimum: number, maximum: number): Range & { unit: string } {
  return {
    minimum: draft.number("min_temp", minimum),
    maximum: draft.number("max_temp", maximum),
    step: Math.max(draft.number("target_temp_step", 0.5), 0.01),
    unit: draft.entry.temperatureUnit,
  };
}

function humidity(draft: HomeAssistantDraft): Setting {
  const range = {
    minimum: draft.number("min_humidity", 0),
    maximum: draft.number("max_humidity", 100),
    step: 1,
    unit: "%",
  };
  return aim(draft, "humidity", "target humidity", "humidity", range, (value) => [
    draft.call("set_humidity", { humidity: value }),
  ]);
}

/** A number that it aims at. */
function aim(
  draft: HomeAssistantDraft,
  name: string,
  label: string,
  attribute: string,
  range: Range,
  steps: (value: unknown, all: Parameters) => Written[],
): Setting {
  draft.numberSlot(name, attribute);
  draft.reading(name, withUnit(range.unit), {
    label,
    ...(range.unit !== undefined && { unit: range.unit }),
    isThere: (value) => value(name) !== null,
  });
  return {
    name,
    parameter: bounded(range),
    words: (value) => `${label} ${numberFormatter(range.unit)(value)}`,
    steps,
    confirmed: { slot: name, by: sameNumber(range.step) },
  };
}

function both(draft: HomeAssistantDraft, { low, high }: Parameters): Written[] {
  if (low === undefined) return [{ error: "low: it has to be set together with high" }];
  if (high === undefined) return [{ error: "high: it has to be set together with low" }];
  return [draft.call("set_temperature", { target_temp_low: low, target_temp_high: high })];
}

function listed(
  draft: HomeAssistantDraft,
  bit: number,
  name: string,
  label: string,
  attribute: string,
  list: globalThis.Parameters<HomeAssistantDraft["list"]>[0],
  service: string,
): Setting | undefined {
  const options = draft.can(bit) ? draft.list(list) : [];
  return chosen(draft, options, { name, label, attribute }, (value) =>
    draft.call(service, { [attribute]: value }),
  );
}
