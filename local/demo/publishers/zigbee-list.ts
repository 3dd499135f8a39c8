/** `bridge/devices` of zigbee2mqtt 2.14: how each device is powered, and which of its values it has, takes and can be asked for. */
import type { DemoDevice } from "../house.ts";
import { addressOf, modelOf } from "./zigbee-configs.ts";

type Config = Record<string, unknown>;

const READ = 1;
const READ_AND_ASK = 5;
const ALL = 7;

/** A value in zigbee2mqtt's list of devices. */
const expose = (type: string, property: string, access: number, more: Config = {}) => ({
  access,
  label: property.charAt(0).toUpperCase() + property.slice(1).replaceAll("_", " "),
  name: property,
  property,
  type,
  ...more,
});

function exposesOf({ kind, can, starts }: DemoDevice): object[] {
  const numeric = (property: string, access: number, unit: string) =>
    expose("numeric", property, access, { unit });
  const battery = starts.battery === undefined ? [] : [numeric("battery", READ_AND_ASK, "%")];
  const end = [
    ...battery,
    expose("numeric", "linkquality", READ, { unit: "lqi", value_max: 255, value_min: 0 }),
  ];
  const binary = (property: string, on: unknown, off: unknown, access = READ) =>
    expose("binary", property, access, { value_off: off, value_on: on });
  switch (kind) {
    case "light":
      return [
        {
          type: "light",
          features: [
            binary("state", "ON", "OFF", ALL),
            expose("numeric", "brightness", ALL, { value_max: 254, value_min: 0 }),
            ...(can.includes("white") ? [numeric("color_temp", ALL, "mired")] : []),
            ...(can.includes("colour") ? [expose("composite", "color", ALL)] : []),
          ],
        },
        ...end,
      ];
    case "cover":
      return [
        {
          type: "cover",
          features: [
            expose("enum", "state", 3, { values: ["OPEN", "CLOSE", "STOP"] }),
            numeric("position", ALL, "%"),
          ],
        },
        ...end,
      ];
    case "climate":
      return [
        {
          type: "climate",
          features: [
            numeric("occupied_heating_setpoint", ALL, "°C"),
            numeric("local_temperature", READ_AND_ASK, "°C"),
            expose("enum", "system_mode", ALL, { values: ["off", "auto", "heat"] }),
            expose("enum", "running_state", READ_AND_ASK, { values: ["idle", "heat"] }),
          ],
        },
        ...end,
      ];
    case "lock":
      return [{ type: "lock", features: [binary("state", "LOCK", "UNLOCK", ALL)] }, ...end];
    case "contact":
      return [binary("contact", false, true), ...end];
    case "motion":
      return [binary("occupancy", true, false), ...end];
    case "leak":
      return [binary("water_leak", true, false), ...end];
    default:
      return [
        numeric("temperature", READ, "°C"),
        ...(can.includes("humidity") ? [numeric("humidity", READ, "%")] : []),
        ...end,
      ];
  }
}

/** Of `bridge/devices`. */
export function listedDevice(device: DemoDevice, at: number): object {
  const { vendor, model, description, isMains } = modelOf(device);
  return {
    date_code: "20260101",
    definition: { description, exposes: exposesOf(device), model, options: [], supports_ota: false, vendor },
    disabled: false,
    friendly_name: device.name,
    ieee_address: addressOf(device),
    interview_completed: true,
    interview_state: "SUCCESSFUL",
    interviewing: false,
    manufacturer: vendor,
    model_id: model,
    network_address: 0x1a00 + at,
    power_source: isMains ? "Mains (single phase)" : "Battery",
    software_build_id: "1.2.3",
    supported: true,
    type: isMains ? "Router" : "EndDevice",
  };
}
