/**
 * The services that are called, whatever else Home Assistant has. As an app of it the bridge has an administrator's token, so this list
 * is the only fence: no service that restarts, reloads, publishes, runs code or changes what others depend on is on it.
 */
const BY_DOMAIN: Readonly<Record<string, readonly string[]>> = {
  alarm_control_panel: [
    "alarm_arm_away",
    "alarm_arm_home",
    "alarm_arm_night",
    "alarm_arm_vacation",
    "alarm_disarm",
  ],
  button: ["press"],
  climate: [
    "set_fan_mode",
    "set_humidity",
    "set_hvac_mode",
    "set_preset_mode",
    "set_swing_mode",
    "set_temperature",
    "turn_off",
    "turn_on",
  ],
  cover: ["close_cover", "open_cover", "set_cover_position", "set_cover_tilt_position", "stop_cover"],
  fan: ["oscillate", "set_percentage", "set_preset_mode", "turn_off", "turn_on"],
  // It makes a polling integration read its device, and changes nothing.
  homeassistant: ["update_entity"],
  humidifier: ["set_humidity", "set_mode", "turn_off", "turn_on"],
  input_boolean: ["turn_off", "turn_on"],
  input_button: ["press"],
  input_number: ["set_value"],
  input_select: ["select_option"],
  input_text: ["set_value"],
  lawn_mower: ["dock", "pause", "start_mowing"],
  light: ["turn_off", "turn_on"],
  lock: ["lock", "open", "unlock"],
  number: ["set_value"],
  scene: ["turn_on"],
  select: ["select_option"],
  siren: ["turn_off", "turn_on"],
  switch: ["turn_off", "turn_on"],
  text: ["set_value"],
  vacuum: ["locate", "pause", "return_to_base", "start", "stop"],
  valve: ["close_valve", "open_valve", "set_valve_position", "stop_valve"],
  water_heater: ["set_operation_mode", "set_temperature"],
};

/** `domain.service` of each. */
export const SERVICES: ReadonlySet<string> = new Set(
  Object.entries(BY_DOMAIN).flatMap(([domain, services]) => services.map((one) => `${domain}.${one}`)),
);
