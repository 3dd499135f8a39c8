/** Device classes of Home Assistant's sensors whose values are numbers (its `sensor` integration, 2026.1). */

const NUMERIC_CLASSES: ReadonlySet<string> = new Set(
  `absolute_humidity apparent_power aqi area atmospheric_pressure battery blood_glucose_concentration carbon_dioxide
  carbon_monoxide conductivity current data_rate data_size distance duration energy energy_distance energy_storage
  frequency gas humidity illuminance irradiance moisture monetary nitrogen_dioxide nitrogen_monoxide nitrous_oxide
  ozone ph pm1 pm10 pm25 pm4 power power_factor precipitation precipitation_intensity pressure reactive_energy
  reactive_power signal_strength sound_pressure speed sulphur_dioxide temperature temperature_delta
  volatile_organic_compounds volatile_organic_compounds_parts voltage volume volume_flow_rate volume_storage water
  weight wind_direction wind_speed`.split(/\s+/),
);

export function isNumericClass(deviceClass: string | undefined): boolean {
  return deviceClass !== undefined && NUMERIC_CLASSES.has(deviceClass);
}
