/**
 * An allowance covers everything of a config that can change a message to the device. A key counts unless it is named here with
 * the reason, so a new one cannot be forgotten.
 */
import type { Config } from "../config/fields.ts";

/**
 * Keys that are only shown. A name that a command template reads is among the entity's `variables`, which count. Where several parts
 * have the same action, the names of the actions count, which follow from these.
 */
const SHOWN = [
  "name",
  "icon",
  "entity_picture",
  "object_id",
  "default_entity_id",
  "device",
  "origin",
  "unit_of_measurement",
  "suggested_display_precision",
  "state_class",
  "json_attributes_topic",
  "json_attributes_template",
  "activity_attributes_topic",
  "activity_attributes_template",
];
/** Keys that say whether a part is offered. The hash counts only parts that are. */
const OFFERED = ["entity_category", "enabled_by_default"];
/** Keys that say whether the device is there. */
const PRESENCE = [
  "availability",
  "availability_mode",
  "availability_template",
  "availability_topic",
  "payload_available",
  "payload_not_available",
  "expire_after",
];
/** Keys of what the device reports, which confirms a command. */
const REPORTED = [
  "optimistic",
  "state_topic",
  "state_template",
  "state_value_template",
  "value_template",
  "position_topic",
  "position_template",
  "tilt_status_topic",
  "tilt_status_template",
  "current_temperature_topic",
  "current_temperature_template",
  "current_humidity_topic",
  "current_humidity_template",
  "action_topic",
  "action_template",
  "effect_template",
];
/** The same of one value among several: `percentage_state_topic`, `mode_state_template`. And its words: `state_open`. */
const REPORTED_ONE =
  /^[a-z_]+_(?:state_topic|state_template|value_template)$|^state_(?:on|off|open|opening|closed|closing|stopped|locked|locking|unlocked|unlocking|jammed)$/;
/** The brightness that such a light reports is sent to switch it on. */
const SENT_AGAIN = ["brightness_state_topic", "brightness_value_template"];

const DISPLAY: ReadonlySet<string> = new Set([...SHOWN, ...OFFERED, ...PRESENCE, ...REPORTED]);

/** True if a key can change a message. */
export function isCovered(key: string, config: Config): boolean {
  if (config.on_command_type === "brightness" && SENT_AGAIN.includes(key)) return true;
  return !DISPLAY.has(key) && !REPORTED_ONE.test(key);
}

/** Everything of a config that can change a message to the device. */
export function coveredKeys(config: Config): Config {
  return Object.fromEntries(Object.entries(config).filter(([key]) => isCovered(key, config)));
}
