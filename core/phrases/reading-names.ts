/** Names that devices have for their readings, as words of ours. */
import { en } from "./languages/en.ts";
import type { ReadingWord } from "./languages/phrase-data.ts";

/** Other names for the same, as zigbee2mqtt, Tasmota, ESPHome and our own agent write them. */
const ALIASES: Readonly<Record<string, ReadingWord>> = {
  co2: "carbon_dioxide",
  co: "carbon_monoxide",
  local_temperature: "temperature",
  current_temperature: "temperature",
  occupied_heating_setpoint: "target_temperature",
  current_heating_setpoint: "target_temperature",
  setpoint: "target_temperature",
  current_humidity: "humidity",
  pm2_5: "pm25",
  "pm2.5": "pm25",
  lux: "illuminance",
  light_level: "illuminance",
  battery_level: "battery",
  linkquality: "signal_strength",
  rssi: "signal_strength",
  wind: "wind_speed",
  rain: "precipitation",
  water_leak: "moisture",
  leak: "moisture",
  disk_usage: "disk",
  memory_usage: "memory",
  load_average: "load",
};

/** @param name `CO2`, `Target temperature` @returns undefined: it is none that we know */
export function readingWord(name: string): ReadingWord | undefined {
  const key = name
    .trim()
    .toLowerCase()
    .replace(/[\s-]+/g, "_");
  if (Object.hasOwn(en.readings, key)) return key as ReadingWord;
  return Object.hasOwn(ALIASES, key) ? ALIASES[key] : undefined;
}
