/**
 * rtl_433 with `-M newmodel`, and its script for Home Assistant: thermometers of 433 MHz that are heard and never asked. Neither knows
 * a name or a room, so a person has to give them.
 */
import type { DemoDevice, State } from "../house.ts";
import { devicesOf, type Program, type ProgramParts, rounded, serialOf } from "./program.ts";

const BASE = "rtl_433/demo";

/** The script's words about a field of an event, by the field. */
const FIELDS: Readonly<Record<string, { suffix: string; component?: string; config: object }>> = {
  // The script takes the switch for the channel for a button.
  channel: {
    suffix: "CH",
    component: "device_automation",
    config: { automation_type: "trigger", type: "button_short_release", subtype: "button_1" },
  },
  time: {
    suffix: "UTC",
    config: {
      device_class: "timestamp",
      name: "Timestamp",
      entity_category: "diagnostic",
      enabled_by_default: false,
      icon: "mdi:clock-in",
    },
  },
  battery_ok: {
    suffix: "B",
    config: {
      device_class: "battery",
      name: "Battery",
      unit_of_measurement: "%",
      value_template: "{{ float(value) * 99 + 1 }}",
      state_class: "measurement",
      entity_category: "diagnostic",
    },
  },
  temperature_C: {
    suffix: "T",
    config: {
      device_class: "temperature",
      name: "Temperature",
      unit_of_measurement: "°C",
      value_template: "{{ value|float|round(1) }}",
      state_class: "measurement",
    },
  },
  humidity: {
    suffix: "H",
    config: {
      device_class: "humidity",
      name: "Humidity",
      unit_of_measurement: "%",
      value_template: "{{ value|float }}",
      state_class: "measurement",
    },
  },
};

export function rtl433({ say, get, now }: ProgramParts): Program {
  const devices = devicesOf("rtl_433");
  const announced = new Set<DemoDevice>();
  const report = (device: DemoDevice) => {
    const { model, channel, id } = identityOf(device);
    const time = new Date(now()).toISOString().slice(0, 19).replace("T", " ");
    const measured = measuredBy(device, get(device.name));
    const topicOf = (field: string) => `${BASE}/devices/${model}/${channel}/${id}/${field}`;
    say(`${BASE}/events`, { time, model, id, channel, ...measured });
    const fields = Object.entries({ time, id, channel, ...measured });
    for (const [field, value] of fields) say(topicOf(field), String(value));
    if (announced.has(device)) return;
    announced.add(device);
    const name = radioName(device);
    for (const [field] of fields) {
      const known = FIELDS[field];
      if (!known) continue;
      const { suffix, component = "sensor", config } = known;
      const place =
        component === "sensor"
          ? { state_topic: topicOf(field), unique_id: `${name}-${suffix}` }
          : { topic: topicOf(field), platform: "mqtt" };
      const device = { identifiers: [name], name, model, manufacturer: "rtl_433" };
      say(
        `homeassistant/${component}/${name}/${name}-${suffix}/config`,
        { ...config, ...place, device },
        true,
      );
    }
  };

  return {
    topics: [],
    // The script describes a device when it is heard.
    announce() {
      announced.clear();
      for (const device of devices) report(device);
    },
    report,
    receive() {},
    online() {},
    leave() {},
  };
}

/** The name by which rtl_433 knows a device. */
export function radioName(device: DemoDevice): string {
  const { model, channel, id } = identityOf(device);
  return `${model}-${channel}-${id}`;
}

function identityOf(device: DemoDevice): { model: string; channel: number; id: number } {
  const at = devicesOf("rtl_433").indexOf(device);
  const model = device.can.includes("humidity") ? "Nexus-TH" : "Nexus-T";
  return { model, channel: at + 1, id: parseInt(serialOf(device).slice(-2), 16) + 70 };
}

function measuredBy({ can }: DemoDevice, { temperature, humidity, battery = 0 }: Readonly<State>) {
  return {
    battery_ok: battery > 10 ? 1 : 0,
    temperature_C: rounded(temperature, 1),
    ...(can.includes("humidity") && { humidity: Math.round(humidity ?? 0) }),
  };
}
