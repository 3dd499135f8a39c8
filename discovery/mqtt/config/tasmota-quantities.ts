/** Quantities that Tasmota measures, by the names in its messages (Tasmota's documentation, Status responses and Sensor API). */

type Quantity = {
  unit?: string;
  /** The member of a message that has the unit. */
  of?: string;
  device_class?: string;
  state_class?: string;
  entity_category?: string;
};

const measured = (device_class: string, unit: string): Quantity => ({
  device_class,
  unit,
  state_class: "measurement",
});
const counted: Quantity = { device_class: "energy", unit: "kWh", state_class: "total_increasing" };
const dust = (device_class?: string): Quantity => ({
  ...(device_class !== undefined && { device_class }),
  unit: "µg/m³",
  state_class: "measurement",
});

export const TASMOTA_QUANTITIES: Readonly<Record<string, Quantity>> = {
  ActivePower: measured("power", "W"),
  Ambient: measured("illuminance", "lx"),
  ApparentPower: measured("apparent_power", "VA"),
  Battery: measured("battery", "%"),
  CarbonDioxide: measured("carbon_dioxide", "ppm"),
  Current: measured("current", "A"),
  DewPoint: { device_class: "temperature", of: "TempUnit", state_class: "measurement" },
  Distance: measured("distance", "cm"),
  eCO2: measured("carbon_dioxide", "ppm"),
  Energy: counted,
  ExportActive: counted,
  ExportTariff: counted,
  Factor: { device_class: "power_factor", state_class: "measurement" },
  Frequency: measured("frequency", "Hz"),
  Humidity: measured("humidity", "%"),
  Illuminance: measured("illuminance", "lx"),
  ImportActive: counted,
  Moisture: measured("moisture", "%"),
  PM1: dust("pm1"),
  PM10: dust("pm10"),
  "PM2.5": dust("pm25"),
  Power: measured("power", "W"),
  Pressure: { device_class: "atmospheric_pressure", of: "PressureUnit", state_class: "measurement" },
  ReactivePower: measured("reactive_power", "var"),
  SeaPressure: { device_class: "atmospheric_pressure", of: "PressureUnit", state_class: "measurement" },
  Speed: { device_class: "wind_speed", of: "SpeedUnit", state_class: "measurement" },
  Temperature: { device_class: "temperature", of: "TempUnit", state_class: "measurement" },
  Today: counted,
  Total: counted,
  TotalStartTime: { entity_category: "diagnostic" },
  TotalTariff: counted,
  TVOC: { unit: "ppb", state_class: "measurement" },
  Voltage: measured("voltage", "V"),
  Weight: measured("weight", "kg"),
  Yesterday: { device_class: "energy", unit: "kWh", state_class: "measurement" },
};

/** Units that Tasmota writes in its own way. */
export const TASMOTA_UNITS: Readonly<Record<string, string>> = { C: "°C", F: "°F" };
