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
  calendar: ["create_event", "get_events"],
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
  cover: [
    "close_cover",
    "close_cover_tilt",
    "open_cover",
    "open_cover_tilt",
    "set_cover_position",
    "set_cover_tilt_position",
    "stop_cover",
  ],
  date: ["set_value"],
  datetime: ["set_value"],
  fan: ["oscillate", "set_direction", "set_percentage", "set_preset_mode", "turn_off", "turn_on"],
  // It makes a polling integration read its device, and changes nothing.
  homeassistant: ["update_entity"],
  humidifier: ["set_humidity", "set_mode", "turn_off", "turn_on"],
  input_boolean: ["turn_off", "turn_on"],
  input_button: ["press"],
  input_datetime: ["set_datetime"],
  input_number: ["set_value"],
  input_select: ["select_option"],
  input_text: ["set_value"],
  lawn_mower: ["dock", "pause", "start_mowing", "stop"],
  light: ["turn_off", "turn_on"],
  lock: ["lock", "open", "unlock"],
  media_player: [
    "media_next_track",
    "media_pause",
    "media_play",
    "media_previous_track",
    "media_stop",
    "select_sound_mode",
    "select_source",
    "turn_off",
    "turn_on",
    "volume_mute",
    "volume_set",
  ],
  notify: ["send_message"],
  number: ["set_value"],
  scene: ["turn_on"],
  // It runs what a person has written and exposed, and is asked about each time.
  script: ["turn_on"],
  select: ["select_option"],
  siren: ["turn_off", "turn_on"],
  switch: ["turn_off", "turn_on"],
  text: ["set_value"],
  time: ["set_value"],
  timer: ["cancel", "pause", "start"],
  todo: ["add_item", "get_items", "remove_item", "update_item"],
  update: ["install"],
  vacuum: ["clean_area", "clean_spot", "locate", "pause", "return_to_base", "set_fan_speed", "start", "stop"],
  valve: ["close_valve", "open_valve", "set_valve_position", "stop_valve"],
  water_heater: ["set_away_mode", "set_operation_mode", "set_temperature", "turn_off", "turn_on"],
  weather: ["get_forecasts"],
};

/** `domain.service` of each. */
export const SERVICES: ReadonlySet<string> = new Set(
  Object.entries(BY_DOMAIN).flatMap(([domain, services]) => services.map((one) => `${domain}.${one}`)),
);
