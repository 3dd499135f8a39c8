/** How zigbee2mqtt 2.14 describes the devices of the demo home by Home Assistant's discovery. */
import type { DemoDevice } from "../house.ts";
import { serialOf, slug } from "./program.ts";

export const BASE = "zigbee2mqtt";
export const VERSION = "2.14.1";
export const COORDINATOR = "0x00124b00d3000001";

type Config = Record<string, unknown>;
type Model = { vendor: string; model: string; description: string; isMains: boolean };

const BULB = { vendor: "IKEA", isMains: true };
const AQARA = { vendor: "Aqara", isMains: false };

export function modelOf({ kind, can }: DemoDevice): Model {
  if (kind === "light" && can.includes("colour"))
    return {
      vendor: "Philips",
      model: "9290022166",
      description: "Hue white and color ambiance E26/E27",
      isMains: true,
    };
  if (kind === "light" && can.includes("white"))
    return {
      ...BULB,
      model: "LED1732G11",
      description: "TRADFRI bulb E27, white spectrum, globe, opal, 1000 lm",
    };
  if (kind === "light")
    return {
      ...BULB,
      model: "LED1836G9",
      description: "TRADFRI bulb E26/E27, warm white, globe, opal, 806 lm",
    };
  if (kind === "cover")
    return { vendor: "IKEA", model: "E1757", description: "FYRTUR roller blind, block-out", isMains: false };
  if (kind === "climate")
    return {
      vendor: "Eurotronic",
      model: "SPZB0001",
      description: "Spirit Zigbee wireless heater thermostat",
      isMains: false,
    };
  if (kind === "lock")
    return { vendor: "Yale", model: "YRD226HA2619", description: "Assure lock", isMains: false };
  if (kind === "motion") return { ...AQARA, model: "RTCGQ11LM", description: "Motion sensor" };
  if (kind === "leak") return { ...AQARA, model: "SJCGQ11LM", description: "Water leak sensor" };
  if (kind === "contact") return { ...AQARA, model: "MCCGQ11LM", description: "Door and window sensor" };
  return { ...AQARA, model: "WSDCGQ11LM", description: "Temperature and humidity sensor" };
}

export function addressOf(device: DemoDevice): string {
  return `0x00158d0000${serialOf(device)}`;
}

const value = (member: string) => `{{ value_json["${member}"] }}`;

/** The configs of a device: topic and payload. */
export function configsOf(device: DemoDevice): Array<readonly [topic: string, config: Config]> {
  const address = addressOf(device);
  const { vendor, model, description } = modelOf(device);
  const state = `${BASE}/${device.name}`;
  const common = {
    availability: [
      { topic: `${BASE}/bridge/state`, value_template: "{{ value_json.state }}" },
      { topic: `${state}/availability`, value_template: "{{ value_json.state }}" },
    ],
    availability_mode: "all",
    device: {
      hw_version: 1,
      identifiers: [`${BASE}_${address}`],
      manufacturer: vendor,
      model: description,
      model_id: model,
      name: device.name,
      sw_version: "1.2.3",
      via_device: `${BASE}_bridge_${COORDINATOR}`,
    },
    origin: { name: "Zigbee2MQTT", sw: VERSION, url: "https://www.zigbee2mqtt.io" },
  };
  const parts = partsOf(device, state);
  return parts.map(({ component, object, config }) => {
    const id = object === component ? slug(device.name, "_") : `${slug(device.name, "_")}_${object}`;
    const whole = {
      ...common,
      default_entity_id: `${component}.${id}`,
      object_id: id,
      unique_id: `${address}_${object}_${BASE}`,
      ...config,
    };
    const sorted = Object.fromEntries(Object.entries(whole).sort(([a], [b]) => (a < b ? -1 : 1)));
    return [`homeassistant/${component}/${address}/${object}/config`, sorted] as const;
  });
}

type Part = { component: string; object: string; config: Config };

function partsOf(device: DemoDevice, state: string): Part[] {
  const { kind, name, can, starts } = device;
  const set = { command_topic: `${state}/set` };
  const main = (component: string, config: Config): Part => ({
    component,
    object: component,
    config: { name: null, state_topic: state, ...config },
  });
  const binary = (member: string, device_class: string, config: Config): Part => ({
    component: "binary_sensor",
    object: member,
    config: { device_class, state_topic: state, value_template: value(member), ...config },
  });
  const sensor = (member: string, unit: string, config: Config = {}): Part => ({
    component: "sensor",
    object: member,
    config: {
      device_class: member,
      enabled_by_default: true,
      state_class: "measurement",
      state_topic: state,
      unit_of_measurement: unit,
      value_template: value(member),
      ...config,
    },
  });
  const parts: Part[] = [];
  if (kind === "light") {
    const modes = [
      ...(can.includes("colour") ? ["xy"] : []),
      ...(can.includes("white") ? ["color_temp"] : []),
    ];
    parts.push(
      main("light", {
        brightness: true,
        brightness_scale: 254,
        ...set,
        ...(can.includes("white") && { max_mireds: 454, min_mireds: 250 }),
        schema: "json",
        supported_color_modes: modes.length > 0 ? modes : ["brightness"],
      }),
    );
  } else if (kind === "cover")
    parts.push(
      main("cover", {
        ...set,
        position_template: value("position"),
        position_topic: state,
        set_position_template: '{ "position": {{ position }} }',
        set_position_topic: `${state}/set`,
        state_closed: "CLOSE",
        state_open: "OPEN",
        state_stopped: "STOP",
        value_template: value("state"),
      }),
    );
  else if (kind === "climate")
    parts.push({ component: "climate", object: "climate", config: climate(state) });
  else if (kind === "lock")
    parts.push(
      main("lock", {
        ...set,
        state_locked: "LOCK",
        state_unlocked: "UNLOCK",
        value_template: value("state"),
      }),
    );
  // zigbee2mqtt calls each contact a door. Whoever has windows sets their class in its settings.
  else if (kind === "contact")
    parts.push(
      binary("contact", /window/i.test(name) ? "window" : "door", {
        name: null,
        payload_off: true,
        payload_on: false,
      }),
    );
  else if (kind === "motion")
    parts.push(binary("occupancy", "occupancy", { payload_off: false, payload_on: true }));
  else if (kind === "leak")
    parts.push(
      binary("water_leak", "moisture", { name: "Water leak", payload_off: false, payload_on: true }),
    );
  else {
    parts.push(sensor("temperature", "°C"));
    if (can.includes("humidity")) parts.push(sensor("humidity", "%"));
  }
  const aside = { entity_category: "diagnostic" };
  if (starts.battery !== undefined) parts.push(sensor("battery", "%", aside));
  const { device_class: _, ...quality } = sensor("linkquality", "lqi", {
    ...aside,
    enabled_by_default: false,
    icon: "mdi:signal",
    name: "Linkquality",
  }).config;
  parts.push({ component: "sensor", object: "linkquality", config: quality });
  return parts;
}

function climate(state: string): Config {
  return {
    action_template:
      "{% set values = {None:None,'idle':'idle','heat':'heating','cool':'cooling','fan_only':'fan'} %}{{ values[value_json[\"running_state\"]] }}",
    action_topic: state,
    current_temperature_template: value("local_temperature"),
    current_temperature_topic: state,
    max_temp: "30",
    min_temp: "5",
    mode_command_topic: `${state}/set/system_mode`,
    mode_state_template: value("system_mode"),
    mode_state_topic: state,
    modes: ["off", "auto", "heat"],
    name: null,
    temp_step: 0.5,
    temperature_command_topic: `${state}/set/occupied_heating_setpoint`,
    temperature_state_template: value("occupied_heating_setpoint"),
    temperature_state_topic: state,
    temperature_unit: "C",
  };
}
