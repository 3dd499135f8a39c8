/**
 * Reads a config message: expands short names and `~`, and turns it into components, one for each entity. A config for a whole
 * device has several. Unknown keys stay, since nothing reads them.
 */
import { isTooDeep } from "@edgecall/core/protocol/parse.ts";
import type { Step } from "../../model/entity/entity.ts";
import type { DeviceInfo } from "../../model/source.ts";
import { DEVICE_ABBREVIATIONS, ENTITY_ABBREVIATIONS, ORIGIN_ABBREVIATIONS } from "./abbreviations.ts";
import type { ConfigTopic } from "./config-topic.ts";
import { type Config, isObject, pythonText, textField } from "./fields.ts";

type MqttDevice = DeviceInfo & {
  /** Of the part of the device to which this component belongs. */
  part?: string;
};

export type Component = {
  kind: string;
  /** Of this component among all of its kind. */
  unique: string;
  config: Config;
  device: MqttDevice;
  origin?: string;
  /** Topics that bring the same states as those of the config. */
  also?: readonly string[];
  /** Messages that make the device report. */
  asks?: readonly Step[];
};

export type ConfigMessage =
  | { type: "components"; components: Component[] }
  | { type: "removed" }
  /** The same thing moves to another topic, whose config comes soon. */
  | { type: "migrating" }
  | { type: "refused"; why: string };

/** Keys of a device's config that its components inherit. */
const SHARED = [
  "availability",
  "availability_mode",
  "availability_template",
  "availability_topic",
  "command_topic",
  "encoding",
  "message_expiry_interval",
  "payload_available",
  "payload_not_available",
  "state_topic",
  "qos",
];

/** @param topic the whole topic, which stands for a unique id where there is none */
export function readConfigMessage({ kind }: ConfigTopic, topic: string, payload: string): ConfigMessage {
  if (payload.trim() === "") return { type: "removed" };
  let value: unknown;
  try {
    value = JSON.parse(payload);
  } catch {
    return { type: "refused", why: "the config is not JSON" };
  }
  if (!isObject(value) || isTooDeep(value)) return { type: "refused", why: "the config is no JSON object" };
  if ([value.migrate_discovery, value.migr_discvry].includes(true)) return { type: "migrating" };
  const whole = withBase(expanded(value));
  return kind === "device" ? ofDevice(whole, topic) : ofEntity(kind, whole, topic);
}

function ofEntity(kind: string, config: Config, topic: string): ConfigMessage {
  const component = newComponent(kind, config, topic, deviceOf(config.device), originOf(config));
  return { type: "components", components: [component] };
}

function ofDevice(whole: Config, topic: string): ConfigMessage {
  if (!isObject(whole.components) && !Array.isArray(whole.child_devices))
    return { type: "refused", why: "the config of a device has no components" };
  const device = deviceOf(whole.device);
  if (device.identities.length === 0)
    return { type: "refused", why: "the config of a device has no identifiers" };
  const shared = Object.fromEntries(
    SHARED.filter((key) => whole[key] !== undefined).map((key) => [key, whole[key]]),
  );
  const read = (components: unknown, info: MqttDevice): Component[] =>
    (isObject(components) ? Object.entries(components) : []).flatMap(([id, raw]) => {
      if (!isObject(raw)) return [];
      const own = expanded(raw);
      const kind = textField(own, "platform");
      // A component with nothing but its platform is removed.
      if (kind === undefined || Object.keys(own).length === 1) return [];
      const config = withBase({ ...shared, ...own }, whole["~"]);
      return [newComponent(kind, config, `${topic}#${id}`, info, originOf(whole))];
    });
  const children = Array.isArray(whole.child_devices) ? whole.child_devices.filter(isObject) : [];
  const components = [
    ...read(whole.components, device),
    ...children.flatMap((child) => read(child.components, withPart(device, child))),
  ];
  return { type: "components", components };
}

function newComponent(
  kind: string,
  config: Config,
  place: string,
  device: MqttDevice,
  origin: string | undefined,
): Component {
  const id = textField(config, "unique_id");
  const unique = id === undefined ? `at ${place}` : `id ${id}`;
  return {
    kind,
    unique,
    config,
    // An entity without a device is a device of its own.
    device:
      device.identities.length > 0
        ? device
        : { ...device, identities: [`entity ${kind} ${unique}`.slice(0, IDENTITY_MAX_CHARS)] },
    ...(origin !== undefined && { origin }),
  };
}

/** Expands the short names of a config, of its availability, device, origin and parts, but not of its components. */
function expanded(config: Record<string, unknown>): Record<string, unknown> {
  const long = renamed(config, ENTITY_ABBREVIATIONS);
  const map = (key: string, change: (value: Record<string, unknown>) => unknown) => {
    const value = long[key];
    if (Array.isArray(value)) long[key] = value.map((one) => (isObject(one) ? change(one) : one));
    else if (isObject(value)) long[key] = change(value);
  };
  map("availability", (entry) => renamed(entry, ENTITY_ABBREVIATIONS));
  map("origin", (origin) => renamed(origin, ORIGIN_ABBREVIATIONS));
  map("device", (device) => renamed(device, DEVICE_ABBREVIATIONS));
  map("child_devices", (child) => renamed(renamed(child, DEVICE_ABBREVIATIONS), ENTITY_ABBREVIATIONS));
  return long;
}

function renamed(
  object: Record<string, unknown>,
  names: Readonly<Record<string, string>>,
): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(object)
      .filter(([key]) => key !== "__proto__")
      .map(([key, value]) => [Object.hasOwn(names, key) ? (names[key] ?? key) : key, value]),
  );
}

/** Puts the base topic for a `~` that begins or ends a topic. A component's own base counts before its device's. */
function withBase(config: Record<string, unknown>, deviceBase?: unknown): Record<string, unknown> {
  const base = config["~"] ?? deviceBase;
  if (typeof base !== "string") return config;
  const based = (value: unknown) => {
    if (typeof value !== "string" || value === "") return value;
    const begun = value.startsWith("~") ? `${base}${value.slice(1)}` : value;
    return begun.endsWith("~") ? `${begun.slice(0, -1)}${base}` : begun;
  };
  const entry = (one: unknown) => (isObject(one) ? { ...one, topic: based(one.topic) } : one);
  return Object.fromEntries(
    Object.entries(config).map(([key, value]) => {
      if (key.endsWith("topic")) return [key, based(value)];
      if (key !== "availability") return [key, value];
      return [key, Array.isArray(value) ? value.map(entry) : entry(value)];
    }),
  );
}

function deviceOf(value: unknown): MqttDevice {
  if (!isObject(value)) return { identities: [] };
  const info = {
    identities: identitiesOf(value),
    ...texts({
      name: value.name,
      manufacturer: value.manufacturer,
      model: value.model,
      area: value.suggested_area,
    }),
  };
  return isObject(value.child_device)
    ? withPart(info, renamed(value.child_device, DEVICE_ABBREVIATIONS))
    : info;
}

/** A part of a device is no device of its own: it only has identifiers and a name more. */
function withPart(device: MqttDevice, part: Record<string, unknown>): MqttDevice {
  const identities = [...new Set([...device.identities, ...identitiesOf(part)])];
  return { ...device, identities, ...texts({ part: part.name }) };
}

/** Identifiers of one device beyond these are left out. */
const IDENTITIES_MAX = 16;
const IDENTITY_MAX_CHARS = 200;

function identitiesOf(device: Record<string, unknown>): string[] {
  const { identifiers, connections } = device;
  const ids = (Array.isArray(identifiers) ? identifiers : [identifiers]).map(pythonText);
  const pairs = (Array.isArray(connections) ? connections : []).map((pair: unknown) =>
    Array.isArray(pair) && pair.length === 2 ? pair.map(pythonText) : [],
  );
  const all = [
    ...ids.flatMap((id) => (id ? [`id ${id}`] : [])),
    ...pairs.flatMap(([type, value]) => (type && value ? [`${type} ${value}`.toLowerCase()] : [])),
  ];
  return [...new Set(all.filter((one) => one.length <= IDENTITY_MAX_CHARS))].slice(0, IDENTITIES_MAX);
}

function originOf(config: Config): string | undefined {
  return isObject(config.origin) ? textField(config.origin, "name") : undefined;
}

function texts<Name extends string>(values: Record<Name, unknown>): Partial<Record<Name, string>> {
  const found = Object.entries(values).flatMap(([name, value]) => {
    const text = pythonText(value);
    return text ? [[name, text]] : [];
  });
  // SAFETY: the names are those of the argument.
  return Object.fromEntries(found) as Partial<Record<Name, string>>;
}
