/** The text that an allowance covers: everything of a config that decides which message an action sends. */
import { canonicalJson } from "../../protocol/approval.ts";
import type { Entity } from "../entities/entity.ts";

/** Topics of commands that do not end with `command_topic`. */
const TOPICS = ["set_position_topic", "set_fan_speed_topic", "send_command_topic"];
const TEMPLATES = ["command_on_template", "command_off_template", "set_position_template"];
/** Choices of an action, and its ranges and scales. */
const CHOICES = [
  "options",
  "effect_list",
  "modes",
  "fan_modes",
  "preset_modes",
  "swing_modes",
  "swing_horizontal_modes",
  "available_tones",
  "fan_speed_list",
  "supported_features",
  "supported_color_modes",
  "min",
  "max",
  "step",
  "min_temp",
  "max_temp",
  "temp_step",
  "temperature_unit",
  "min_humidity",
  "max_humidity",
  "speed_range_min",
  "speed_range_max",
  "position_open",
  "position_closed",
  "tilt_min",
  "tilt_max",
  "reports_position",
  "brightness",
  "brightness_scale",
  "color_temp_kelvin",
  "min_mireds",
  "max_mireds",
  "min_kelvin",
  "max_kelvin",
  "pattern",
  "schema",
  "on_command_type",
  "retain",
  "device_class",
];

function decides(key: string): boolean {
  if (key.endsWith("command_topic") || key.endsWith("command_template")) return true;
  if (key.startsWith("payload_")) return !["payload_available", "payload_not_available"].includes(key);
  return TOPICS.includes(key) || TEMPLATES.includes(key) || CHOICES.includes(key);
}

/**
 * @param entities those whose commands are offered
 * @param dangerous names of the actions that ask each time: one that stops asking, by a new name or by what became of another device, is
 * another one than that which was allowed
 */
export function allowText(
  identities: readonly string[],
  entities: readonly Entity[],
  dangerous: readonly string[],
): string {
  const parts = entities
    .map(({ kind, unique, config }) => ({
      kind,
      unique,
      config: Object.fromEntries(Object.entries(config).filter(([key]) => decides(key))),
    }))
    .map((part) => canonicalJson(part));
  return canonicalJson({
    identities: [...identities].sort(),
    entities: parts.sort(),
    dangerous: [...dangerous].sort(),
  });
}
