/**
 * The keys that allowances covered up to 0.3: some that can change a message are missing. An allowance of then still holds where they
 * make no difference (`coveredBy03`). This can go when no home is upgraded from 0.3 any more.
 */
import type { Config } from "../config/fields.ts";

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

function wasCovered(key: string): boolean {
  if (key.endsWith("command_topic") || key.endsWith("command_template")) return true;
  if (key.startsWith("payload_")) return !["payload_available", "payload_not_available"].includes(key);
  return TOPICS.includes(key) || TEMPLATES.includes(key) || CHOICES.includes(key);
}

/**
 * Kinds in which a key that was not covered then decides what is sent: `effect`, `transition`, `brightness_template`,
 * `support_duration`. A key that is missing now may have been there when a person allowed the device.
 */
const CHANGED_KINDS = ["light", "siren"];

/**
 * @returns what 0.3 covered of an entity whose command templates mention no names, where that allows the same messages as what is
 * covered now; undefined: it may have allowed others. `qos` was not covered, and counts for nothing: the bridge publishes each command
 * with QoS 1.
 */
export function coveredBy03(kind: string, config: Config): { config: Config } | undefined {
  if (CHANGED_KINDS.includes(kind)) return undefined;
  return { config: Object.fromEntries(Object.entries(config).filter(([key]) => wasCovered(key))) };
}
