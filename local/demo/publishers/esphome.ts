/** Nodes with ESPHome: one for each device, with the abbreviated configs and the topics of ESPHome's MQTT component. */
import type { DemoDevice, State } from "../house.ts";
import {
  devicesOf,
  jsonObject,
  onOrOff,
  type Program,
  type ProgramParts,
  serialOf,
  slug,
} from "./program.ts";

const VERSION = "2026.10.2";
const SPEEDS = 3;
const SENSOR_ICON = "mdi:molecule-co2";

type Component = "light" | "fan" | "valve" | "binary_sensor" | "sensor";
type Entity = { component: Component; id: string; config: Record<string, unknown> };

/** Of a phone that is near. */
const AT_HOME = { component: "binary_sensor", id: "home" } as const;

const isCommanded = (component: string) => ["light", "fan", "valve"].includes(component);

export function esphome({ say, get, command }: ProgramParts): Program {
  const devices = devicesOf("esphome");
  const status = (device: DemoDevice, isOnline: boolean) =>
    say(`${nodeOf(device)}/status`, isOnline ? "online" : "offline", true);
  const topicOf = (device: DemoDevice, { component, id }: Pick<Entity, "component" | "id">, end: string) =>
    `${nodeOf(device)}/${component}/${id}/${end}`;
  /** ESPHome keeps its states at the broker. */
  const report = (device: DemoDevice) => {
    const state = get(device.name);
    const main = slug(device.name, "_");
    if (device.kind === "light")
      say(topicOf(device, { component: "light", id: main }, "state"), lightState(device, state), true);
    else if (device.kind === "fan") {
      say(topicOf(device, { component: "fan", id: main }, "state"), state.on ? "ON" : "OFF", true);
      say(
        topicOf(device, { component: "fan", id: main }, "speed_level/state"),
        String(state.speed ?? 0),
        true,
      );
    } else if (device.kind === "valve")
      say(topicOf(device, { component: "valve", id: main }, "state"), state.open ? "open" : "closed", true);
    else if (device.kind === "presence")
      say(topicOf(device, AT_HOME, "state"), state.isHome ? "ON" : "OFF", true);
    else
      for (const [id, value] of measured(device, state))
        say(topicOf(device, { component: "sensor", id }, "state"), value, true);
  };

  return {
    topics: devices
      .filter(({ kind }) => isCommanded(kind))
      .flatMap((device) => [`${nodeOf(device)}/+/+/command`, `${nodeOf(device)}/+/+/speed_level/command`]),
    announce() {
      for (const device of devices) {
        status(device, true);
        for (const entity of entitiesOf(device)) {
          const { component, id, config } = entity;
          const commands = isCommanded(component) ? { cmd_t: topicOf(device, entity, "command") } : {};
          say(
            `homeassistant/${component}/${nodeOf(device)}/${id}/config`,
            {
              ...config,
              stat_t: topicOf(device, entity, "state"),
              ...commands,
              avty_t: `${nodeOf(device)}/status`,
              uniq_id: `${macOf(device)}-${component}-${hashOf(String(config.name) || device.name)}`,
              dev: {
                ids: macOf(device),
                name: device.name,
                sw: `${VERSION} (config hash 0x${serialOf(device).padStart(8, "0")})`,
                mdl: "esp32-c3-devkitm-1",
                mf: "Espressif",
                sa: device.room,
                cns: [["mac", macOf(device)]],
              },
            },
            true,
          );
        }
      }
    },
    report,
    receive(topic, payload) {
      const device = devices.find((one) => topic.startsWith(`${nodeOf(one)}/`));
      if (!device) return;
      const change = changeOf(device, get(device.name), topic, payload);
      if (change) command(device, change);
    },
    online: status,
    leave() {
      for (const device of devices) status(device, false);
    },
  };

  function entitiesOf(device: DemoDevice): Entity[] {
    const id = slug(device.name, "_");
    const fan = { component: "fan", id } as const;
    const sensor = (name: string, config: object): Entity => ({
      component: "sensor",
      id: slug(name, "_"),
      config: { ...config, stat_cla: "measurement", name },
    });
    const temperature = sensor("Temperature", { dev_cla: "temperature", unit_of_meas: "°C" });
    switch (device.kind) {
      case "light": {
        const isDimmed = device.can.includes("brightness");
        const modes = [isDimmed ? "brightness" : "onoff"];
        const config = {
          schema: "json",
          clrm: true,
          supported_color_modes: modes,
          ...(isDimmed && { brightness: true }),
        };
        // An entity without a name of its own is its device.
        return [{ component: "light", id, config: { ...config, name: "" } }];
      }
      case "fan": {
        const config = {
          pct_cmd_t: topicOf(device, fan, "speed_level/command"),
          pct_stat_t: topicOf(device, fan, "speed_level/state"),
          spd_rng_max: SPEEDS,
        };
        return [{ ...fan, config: { ...config, name: "" } }];
      }
      case "valve":
        return [{ component: "valve", id, config: { dev_cla: "water", name: "" } }];
      case "presence":
        return [{ ...AT_HOME, config: { dev_cla: "presence", name: "Home" } }];
      case "air": {
        const co2 = { dev_cla: "carbon_dioxide", unit_of_meas: "ppm", ic: SENSOR_ICON };
        return [sensor("CO2", co2), temperature];
      }
      default:
        return [temperature];
    }
  }
}

function nodeOf({ name }: DemoDevice): string {
  return slug(name, "-");
}

function macOf(device: DemoDevice): string {
  return `a0b765${serialOf(device)}`;
}

/** FNV-1 of 32 bits, as ESPHome makes its unique ids. */
function hashOf(name: string): string {
  let hash = 2_166_136_261;
  for (const byte of new TextEncoder().encode(name)) hash = (Math.imul(hash, 16_777_619) ^ byte) >>> 0;
  return hash.toString(16).padStart(8, "0");
}

function lightState({ can }: DemoDevice, { on, brightness }: Readonly<State>): object {
  const isDimmed = can.includes("brightness");
  return {
    color_mode: isDimmed ? "brightness" : "onoff",
    state: on ? "ON" : "OFF",
    ...(isDimmed && { brightness }),
    color: {},
  };
}

/** The sensors of a node, by object id, with the digits that each has. */
function measured(
  { kind }: DemoDevice,
  { temperature = 0, co2 = 0 }: Readonly<State>,
): Array<[string, string]> {
  const own: Array<[string, string]> = kind === "air" ? [["co2", co2.toFixed(0)]] : [];
  return [...own, ["temperature", temperature.toFixed(1)]];
}

function changeOf(
  { kind }: DemoDevice,
  state: Readonly<State>,
  topic: string,
  payload: string,
): State | undefined {
  if (topic.endsWith("/speed_level/command")) {
    const speed = Number(payload);
    return Number.isInteger(speed) && speed >= 0 && speed <= SPEEDS ? { speed } : undefined;
  }
  if (kind === "valve")
    return payload === "OPEN" ? { open: true } : payload === "CLOSE" ? { open: false } : undefined;
  const asked = kind === "light" ? jsonObject(payload) : { state: payload };
  const on = onOrOff(String(asked?.state ?? ""), state.on);
  const brightness = asked !== undefined && "brightness" in asked ? Number(asked.brightness) : undefined;
  if (on === undefined && brightness === undefined) return undefined;
  return { ...(on !== undefined && { on }), ...(brightness !== undefined && { brightness }) };
}
