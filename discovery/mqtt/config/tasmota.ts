/**
 * Tasmota's own discovery, its default since 2021: `tasmota/discovery/MAC/config` has what the topics are composed of, and
 * `…/sensors` an example of what it measures (TasmotaDiscovery in xdrv_12_discovery.ino, version 1 of the format). It becomes components
 * as of Home Assistant's discovery. They have the unique ids of Tasmota's older discovery (SetOption19), so a device that has both, or has
 * left one behind, has each part once.
 */
import { objectIn } from "@edgecall/core/protocol/json-text.ts";
import type { Step } from "../../model/entity/entity.ts";
import type { Component, ConfigMessage } from "./components.ts";
import { parseConfigTopic } from "./config-topic.ts";
import { type Config, isObject, numberOf, pythonText } from "./fields.ts";
import { TASMOTA_QUANTITIES, TASMOTA_UNITS } from "./tasmota-quantities.ts";

const TOPIC = /^tasmota\/discovery\/([0-9A-Fa-f]{12})\/(config|sensors)$/;
const DEVICES_MAX = 500;
const MESSAGE_MAX_CHARS = 16 * 1_024;
/** No JSON has it. */
const BETWEEN = "\u0000";
/** Values of one device. */
const VALUES_MAX = 128;

const RELAY = 1;
const LIGHT = 2;
const SHUTTER = 3;

/** `lt_st`: kinds of lights by their channels. */
const DIMMER = 1;
const COLD_WARM = 2;
const RGB = 3;
const RGB_COLD_WARM = 5;

export const TASMOTA_TOPICS = ["tasmota/discovery/+/config", "tasmota/discovery/+/sensors"];

/** Tells whether a topic has a config, of Home Assistant's discovery or of Tasmota's. */
export function isConfigTopic(prefix: string, topic: string): boolean {
  return parseTasmotaTopic(topic) !== undefined || parseConfigTopic(prefix, topic) !== undefined;
}

type TasmotaTopic = { mac: string; part: "config" | "sensors" };

export function parseTasmotaTopic(topic: string): TasmotaTopic | undefined {
  const [, mac, part] = TOPIC.exec(topic) ?? [];
  return mac !== undefined && (part === "config" || part === "sensors")
    ? { mac: mac.toUpperCase(), part }
    : undefined;
}

/** The two messages of each device, which come in any order. */
export class TasmotaMessages {
  readonly #config = new Map<string, string>();
  readonly #sensors = new Map<string, string>();

  /** @returns both messages of the device as one text; empty: it is gone, or its config did not come yet; undefined: there is no room */
  add({ mac, part }: TasmotaTopic, payload: string): string | undefined {
    const all = part === "config" ? this.#config : this.#sensors;
    if (payload.trim() === "") all.delete(mac);
    else if (payload.length > MESSAGE_MAX_CHARS || (!all.has(mac) && all.size >= DEVICES_MAX))
      return undefined;
    else all.set(mac, payload);
    const config = this.#config.get(mac);
    return config === undefined ? "" : `${config}${BETWEEN}${this.#sensors.get(mac) ?? ""}`;
  }
}

/** @param payload of `TasmotaMessages.add` */
export function readTasmota(mac: string, payload: string): ConfigMessage {
  const [first = "", second = ""] = payload.split(BETWEEN);
  const [config, sensors] = [objectIn(first), objectIn(second)];
  if (!config) return { type: "refused", why: "the config of a Tasmota device is no JSON object" };
  if (config.ver !== undefined && config.ver !== 1)
    return { type: "refused", why: "the config of a Tasmota device has an unknown version" };
  const device = new TasmotaDevice(mac, config);
  if (device.problem !== undefined)
    return { type: "refused", why: `the config of a Tasmota device has ${device.problem}` };
  return { type: "components", components: [...device.relays(), ...device.sensors(sensors ?? {})] };
}

class TasmotaDevice {
  readonly #mac: string;
  readonly #config: Config;
  readonly #id: string;

  constructor(mac: string, config: Config) {
    this.#mac = mac;
    this.#config = config;
    // By which Tasmota calls itself in topics and names.
    this.#id = mac.slice(-6);
  }

  /** What its topics cannot be composed of. */
  get problem(): string | undefined {
    const { mac, t, ft, tp, rl } = this.#config;
    if (mac !== undefined && this.#text("mac").replaceAll(":", "").toUpperCase() !== this.#mac)
      return "another mac than its topic";
    if (!pythonText(t)) return "no t (its topic)";
    if (!pythonText(ft)?.includes("%prefix%")) return "no ft (its full topic) with %prefix%";
    if (!Array.isArray(tp) || tp.length < 3 || !tp.every(pythonText)) return "no tp (three prefixes)";
    return rl === undefined || Array.isArray(rl) ? undefined : "an rl that is no list";
  }

  /** Switches, lights and covers. */
  relays(): Component[] {
    const kinds = this.#numbers("rl").slice(0, 32);
    const firstLight = kinds.indexOf(LIGHT);
    let shutters = 0;
    return kinds.flatMap((kind, at) => {
      if (kind === SHUTTER) {
        // Two relays move one shutter.
        shutters += 1;
        return shutters % 2 === 1 ? [this.#cover((shutters + 1) / 2)] : [];
      }
      if (kind !== RELAY && kind !== LIGHT) return [];
      const isLight = kind === LIGHT || this.#option(30);
      const config = {
        ...this.#name(at),
        ...this.#power(at),
        ...(kind === LIGHT && this.#light(at, at - firstLight)),
      };
      return [this.#component(isLight ? "light" : "switch", `${isLight ? "LI" : "RL"}_${at + 1}`, config)];
    });
  }

  /** A value for each number or text in the example. */
  sensors({ sn }: Config): Component[] {
    if (!isObject(sn)) return [];
    const components: Component[] = [];
    const walk = (value: unknown, path: readonly (string | number)[]): void => {
      if (components.length >= VALUES_MAX || path.length > 4) return;
      if (Array.isArray(value)) for (const [at, one] of value.entries()) walk(one, [...path, at]);
      else if (isObject(value)) for (const [key, one] of Object.entries(value)) walk(one, [...path, key]);
      else if (path.length > 0 && isValue(path)) components.push(this.#sensor(path, value, sn));
    };
    walk(sn, []);
    return components;
  }

  #sensor(path: readonly (string | number)[], example: unknown, sn: Config): Component {
    const keys = path.filter((key) => typeof key === "string");
    const quantity = keys.findLast((key) => Object.hasOwn(TASMOTA_QUANTITIES, key));
    const { unit, of, ...known } = (quantity !== undefined && TASMOTA_QUANTITIES[quantity]) || {};
    const reported = of === undefined ? undefined : pythonText(sn[of]);
    const ownUnit = reported === undefined ? unit : (TASMOTA_UNITS[reported] ?? reported);
    const isSwitch = /^Switch\d+$/.test(String(path[0])) && path.length === 1;
    const config = {
      name: path.map((key) => (typeof key === "number" ? key + 1 : key)).join(" "),
      state_topic: this.#topic(2, "SENSOR"),
      value_template: `{{ ${memberAt(path)} }}`,
      ...known,
      ...(ownUnit !== undefined && { unit_of_measurement: ownUnit }),
      // A number without a class is one all the same.
      ...(typeof example === "number" && !known.state_class && { state_class: "measurement" }),
      ...(isSwitch && this.#payloads()),
    };
    return this.#component(isSwitch ? "binary_sensor" : "sensor", path.join("_"), config, [
      this.#topic(1, "STATUS10"),
    ]);
  }

  #cover(number: number): Component {
    const member = `value_json.Shutter${number}`;
    const config = {
      name: number === 1 && this.#numbers("rl").length <= 2 ? null : `Shutter ${number}`,
      command_topic: this.#topic(0, "Backlog"),
      payload_open: `ShutterOpen${number}`,
      payload_close: `ShutterClose${number}`,
      payload_stop: `ShutterStop${number}`,
      set_position_topic: this.#topic(0, `ShutterPosition${number}`),
      position_topic: this.#topic(1, "RESULT"),
      position_template: `{{ ${member}.Position if ${member} is defined else '' }}`,
    };
    return this.#component("cover", `SHT_${number}`, config, [this.#topic(2, "SENSOR")]);
  }

  /** What switches a relay, and what tells that it is on. */
  #power(at: number): Config {
    const member = `value_json.POWER${at + 1}`;
    // A device with one relay leaves the number out.
    const template = at === 0 ? `{{ ${member} | default(value_json.POWER) }}` : `{{ ${member} }}`;
    return {
      ...this.#payloads(),
      command_topic: this.#topic(0, `POWER${at + 1}`),
      state_topic: this.#topic(1, "RESULT"),
      value_template: template,
      state_value_template: template,
    };
  }

  /** @param at the relay @param channel the light among the device's lights */
  #light(at: number, channel: number): Config {
    const type = numberOf(this.#config.lt_st) ?? 0;
    const isSplit = this.#config.lk === 0 && type > RGB;
    const state = this.#topic(1, "RESULT");
    const of = (key: string, command: string, member: string) => ({
      [`${key}_command_topic`]: this.#topic(0, command),
      [`${key}_state_topic`]: state,
      [`${key}_value_template`]: `{{ ${member} }}`,
    });
    if (type === 0) return {};
    if (this.#option(68))
      return {
        ...of("brightness", `Channel${at + 1}`, `value_json.Channel${at + 1}`),
        brightness_scale: 100,
      };
    const hasColour = type >= RGB && (!isSplit || channel === 0);
    const hasWhite = type === COLD_WARM || (type === RGB_COLD_WARM && (!isSplit || channel === 1));
    const dimmer = isSplit ? `Dimmer${channel + 1}` : "Dimmer";
    return {
      ...(type >= DIMMER &&
        of("brightness", this.#config.ty === 1 ? "Dimmer3" : dimmer, `value_json.${dimmer}`)),
      brightness_scale: 100,
      ...(hasWhite && {
        ...of("color_temp", "CT", "value_json.CT"),
        min_mireds: this.#option(82) ? 200 : 153,
        max_mireds: this.#option(82) ? 380 : 500,
      }),
      ...(hasColour && {
        // Hue and saturation alone leave the brightness as it is.
        ...of("hs", "Backlog", "(value_json.HSBColor | default('')).split(',')[0:2] | join(',')"),
        hs_command_template: "HSBColor1 {{ hue | round | int }};HSBColor2 {{ sat | round | int }}",
      }),
    };
  }

  #component(
    kind: string,
    unique: string,
    config: Config,
    also: readonly string[] = [this.#topic(2, "STATE")],
  ): Component {
    const sleeps = (numberOf(this.#config.dslp) ?? 0) > 0;
    const name = this.#text("dn") || this.#text("t");
    const mac = (this.#mac.match(/../g) ?? []).join(":").toLowerCase();
    return {
      kind,
      unique: `id ${this.#id}_${unique}`,
      config: {
        unique_id: `${this.#id}_${unique}`,
        ...config,
        // One that sleeps is away most of the time, and its values hold.
        ...(!sleeps && {
          availability_topic: this.#topic(2, "LWT"),
          payload_available: this.#text("onln") || "Online",
          payload_not_available: this.#text("ofln") || "Offline",
        }),
      },
      device: {
        identities: [`id ${this.#id}`, `mac ${mac}`],
        name,
        manufacturer: "Tasmota",
        ...(this.#text("md") !== "" && { model: this.#text("md") }),
      },
      origin: "Tasmota",
      also,
      asks: this.#asks(),
    };
  }

  /** Each makes it report: all that is switched, and all that it measures. */
  #asks(): Step[] {
    return [
      { topic: this.#topic(0, "STATE"), payload: "" },
      { topic: this.#topic(0, "STATUS"), payload: "10" },
    ];
  }

  /** A part with the device's own name is the device. */
  #name(at: number): Config {
    const names = Array.isArray(this.#config.fn) ? this.#config.fn : [];
    const name = pythonText(names[at]) || (at > 0 ? `Power ${at + 1}` : this.#text("dn"));
    return { name: name === this.#text("dn") ? null : name };
  }

  #payloads(): Config {
    const states = Array.isArray(this.#config.state) ? this.#config.state : [];
    return { payload_on: pythonText(states[1]) || "ON", payload_off: pythonText(states[0]) || "OFF" };
  }

  #topic(prefix: 0 | 1 | 2, command: string): string {
    const prefixes = Array.isArray(this.#config.tp) ? this.#config.tp : [];
    const parts: Record<string, string> = {
      "%prefix%": pythonText(prefixes[prefix]) ?? "",
      "%topic%": this.#text("t"),
      "%hostname%": this.#text("hn"),
      "%id%": this.#id,
    };
    const full = this.#text("ft").replace(/%(?:prefix|topic|hostname|id)%/g, (part) => parts[part] ?? "");
    return `${full.endsWith("/") ? full : `${full}/`}${command}`;
  }

  #option(number: number): boolean {
    const { so } = this.#config;
    return isObject(so) && so[number] === 1;
  }

  #numbers(key: string): number[] {
    const list = this.#config[key];
    return (Array.isArray(list) ? list : []).map((one) => numberOf(one) ?? 0);
  }

  #text(key: string): string {
    return pythonText(this.#config[key]) ?? "";
  }
}

/** Times and units of a message, and ids of chips, are no values of the device. */
function isValue(path: readonly (string | number)[]): boolean {
  const last = String(path.at(-1));
  return path[0] !== "Time" && last !== "Id" && !(path.length === 1 && last.endsWith("Unit"));
}

/** A message does not have each of its members each time. An answer to STATUS 10 has all of them one level deeper. */
function memberAt(path: readonly (string | number)[]): string {
  const whole = "(value_json.StatusSNS | default(value_json))";
  return path.reduce<string>(
    (above, key, at) =>
      `(${above}[${JSON.stringify(key)}] | default(${at === path.length - 1 ? "''" : "{}"}))`,
    whole,
  );
}
