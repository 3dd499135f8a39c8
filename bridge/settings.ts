/** Reads the bridge's settings from the environment. */
import { existsSync, readFileSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { BRIDGE_USER } from "@edgecall/core/broker/mosquitto.ts";
import { systemCaFile } from "@edgecall/core/protocol/broker-tls.ts";
import { DEFAULT_TOPIC_PREFIX } from "@edgecall/core/protocol/names.ts";
import { readTraceSettings, type TraceSettings } from "@edgecall/core/trace/settings.ts";
import { isPrivateHost } from "@edgecall/core/web/address.ts";
import { messageOf } from "@edgecall/node/log.ts";
import { type UpdateFiles, updateFiles } from "@edgecall/node/systemd/update.ts";
import { type OwnKey, readOwnKey } from "./gateway/own-key.ts";
import { BRIDGE_VARIABLES, type BridgeVariable } from "./variables.ts";

/** In the folder of a broker that the bridge manages: the password of the bridge's own user. Only the bridge reads it. */
export const BRIDGE_PASSWORD_FILE = "bridge-password";

export type BridgeSettings = {
  /** The socket's address: `wss://…/bridge`. */
  gatewayUrl: string;
  /** The bridge shows one of the two to the gateway. */
  bridgeToken: string | undefined;
  ownKey: OwnKey | undefined;
  /** Undefined: there is no broker, and only Home Assistant's devices are agents. */
  mqttUrl: string | undefined;
  mqttUsername: string | undefined;
  mqttPassword: string | undefined;
  /** PEM text of the authorities that may have signed the broker's certificate; undefined: Node's own list. */
  mqttCa: string | undefined;
  topicPrefix: string;
  /** 0: no health server. */
  healthPort: number;
  healthHost: string;
  /** Names this bridge in logs, in its hello and to the broker. */
  bridgeId: string;
  /** The folder of a broker whose logins the bridge keeps up to date; undefined: the bridge does not manage the broker. */
  brokerFiles: string | undefined;
  /** The files by which the bridge asks for an update of itself; undefined: nothing would carry it out. */
  updates: UpdateFiles | undefined;
  /** Undefined: nothing is traced. */
  trace: TraceSettings | undefined;
  /** Undefined: no device is hosted. */
  devices: DeviceSettings | undefined;
};

export type HomeAssistantSettings = {
  /** `ws(s)://HOST:PORT/api/websocket`; of the Supervisor `ws://supervisor/core/websocket`. */
  url: string;
  /** As of the broker's devices. */
  mode: "read" | "allow";
  /** The token of now: its file may have been written anew. */
  token(): string;
};

/** What knows whether somebody is at home, by the name that people read. `agent`: a hosted device's id. */
export type PresenceSource = { name: string } & (
  | { of: "entity"; entity: string }
  | { of: "ping"; host: string }
  | { of: "reading"; agent: string; reading: string }
);

export type DeviceSettings = {
  /** Of the broker's devices. `off`: they are no agents. `read`: a change is refused unless a person has allowed the device. */
  mode: "off" | "read" | "allow";
  /** The prefix of the topics on which devices describe themselves. */
  prefix: string;
  /** True if the bridge says there that it has started, so that publishers send again. */
  birth: boolean;
  /** Words in a name that make a command ask each time, in addition to the built-in ones. */
  dangerText: readonly string[];
  /** Undefined: the settings name none. */
  homeAssistant?: HomeAssistantSettings | undefined;
  /** The mode of one by a sign-in in the console. `off`: no sign-in is possible, perhaps since there is no folder. */
  signIn: DeviceSettings["mode"];
  /** Entity ids of Home Assistant's persons and trackers that are devices too. Absent: none. */
  people?: readonly string[];
  /** What says who is at home, for rules that act. Absent: nothing. */
  presence?: readonly PresenceSource[];
  /** Of the home, in degrees, for sunrise and sunset. Absent: it is not known. */
  place?: { lat: number; lon: number };
  /** Whose a device is that both have. Absent: the broker's. */
  firstSource?: "home-assistant";
  /** The folder for last states and for the ledger of commands; undefined: nothing outlives the process, and nothing is changed. */
  folder: string | undefined;
  /** Days for which values are kept; undefined: none are. */
  historyDays: number | undefined;
};

export type SettingsResult = { ok: true; settings: BridgeSettings } | { ok: false; errors: string[] };

type Environment = Record<string, string | undefined>;
type Table = typeof BRIDGE_VARIABLES;
type SecretVariable = {
  [N in BridgeVariable]: Table[N] extends { secret: true } ? N : never;
}[BridgeVariable];
/** Reads a variable, or its default. An empty one counts as not set: `docker run -e X=` and unit files write that. */
type Get = <N extends BridgeVariable>(
  name: N,
) => Table[N] extends { default: string } ? string : string | undefined;

/** Reads the settings. Every error names its variable and what would be right; a secret is never quoted. */
export function readSettings(env: Environment): SettingsResult {
  const errors: string[] = [];
  const get: Get = (name) => {
    const entry = BRIDGE_VARIABLES[name];
    return (env[name] || ("default" in entry ? entry.default : undefined)) as never;
  };
  /** A secret may be in a file (NAME_FILE), where `docker inspect` does not show it. */
  const secret = (name: SecretVariable, problems = errors): string | undefined =>
    get(name) ?? readSecret(name, env[`${name}_FILE`] || undefined, problems);

  const bridgeToken = readToken(secret("BRIDGE_TOKEN"), errors);
  // The folder for files of the bridge: the one that is named, or the one that systemd gives the service.
  const folder = get("BRIDGE_STATE") ?? (env.STATE_DIRECTORY || undefined);
  const isNamed = get("BRIDGE_STATE") !== undefined;
  const ownKey = bridgeToken === undefined ? ownKeyIn(folder, isNamed, errors) : undefined;
  const gatewayUrl = readGatewayUrl(get("GATEWAY_URL") ?? ownKey?.gateway, errors);
  if (bridgeToken === undefined && ownKey === undefined && errors.every((error) => !/^BRIDGE_/.test(error)))
    errors.push(
      "BRIDGE_TOKEN: missing; set this home's bridge token, or BRIDGE_STATE, the folder with the key that pairing made",
    );
  const brokerFiles = get("BROKER_FILES");
  const mqttUsername = get("MQTT_USERNAME") ?? (brokerFiles === undefined ? undefined : BRIDGE_USER);
  const mqttUrl = readMqttUrl(get("MQTT_URL"), errors);
  const mqttCa = readCa(get("MQTT_CA") ?? systemCaFile(mqttUrl ?? "", env, existsSync), errors);
  const topicPrefix = readPrefix("TOPIC_PREFIX", get("TOPIC_PREFIX"), errors);
  const healthPort = readPort(get("HEALTH_PORT"), errors);
  const bridgeId = readBridgeId(get("BRIDGE_ID"), errors);
  const mqttPassword = secret("MQTT_PASSWORD") ?? ownPassword(brokerFiles, get, errors);
  if (mqttPassword !== undefined && mqttUsername === undefined) {
    errors.push("MQTT_USERNAME: missing, though MQTT_PASSWORD is set");
  }
  const trace = readTraceSettings({
    OTEL_EXPORTER_OTLP_ENDPOINT: get("OTEL_EXPORTER_OTLP_ENDPOINT"),
    OTEL_EXPORTER_OTLP_HEADERS: secret("OTEL_EXPORTER_OTLP_HEADERS"),
  });
  if (!trace.ok) errors.push(trace.error);
  const homeAssistant = readHomeAssistant(get, (problems) => secret("HA_TOKEN", problems), errors);
  const devices = readDevices(get, { mqttUrl, topicPrefix, folder, homeAssistant }, errors);
  if (mqttUrl === undefined && devices === undefined)
    errors.push(
      "MQTT_URL: should not be off while HA_URL names no Home Assistant, and none can be signed in to (BRIDGE_STATE, HA_DEVICES): there would be no agents",
    );
  if (errors.length > 0 || !trace.ok) return { ok: false, errors };
  return {
    ok: true,
    settings: {
      gatewayUrl,
      bridgeToken,
      ownKey,
      mqttUrl,
      mqttUsername,
      mqttPassword,
      mqttCa,
      topicPrefix,
      healthPort,
      healthHost: get("HEALTH_HOST"),
      bridgeId,
      brokerFiles,
      updates: updateFiles(env),
      trace: trace.value,
      devices,
    },
  };
}

/** Reads the settings of hosted devices. A broker elsewhere may have devices of others, so there nothing is hosted unasked. */
function readDevices(
  get: Get,
  {
    mqttUrl,
    topicPrefix,
    folder,
    homeAssistant,
  }: Pick<BridgeSettings, "mqttUrl" | "topicPrefix"> & Pick<DeviceSettings, "folder" | "homeAssistant">,
  errors: string[],
): DeviceSettings | undefined {
  const isOwn = isPrivateHost(URL.parse(mqttUrl ?? "")?.hostname.toLowerCase() ?? "");
  const wanted = readMode("MQTT_DEVICES", get("MQTT_DEVICES") ?? (isOwn ? "allow" : "off"), errors);
  const mode = mqttUrl === undefined ? "off" : wanted;
  // HA_DEVICES is checked where it is read first.
  const wantedThere = readMode("HA_DEVICES", get("HA_DEVICES"), []);
  const signIn = folder === undefined ? "off" : wantedThere;
  if (mode === "off" && homeAssistant === undefined && signIn === "off") return undefined;
  const birth = get("MQTT_DEVICES_BIRTH");
  if (birth !== "on" && birth !== "off") errors.push("MQTT_DEVICES_BIRTH: should be on or off");
  const prefix = readPrefix("MQTT_DEVICES_PREFIX", get("MQTT_DEVICES_PREFIX"), errors);
  if (`${prefix}/`.startsWith(`${topicPrefix}/`))
    errors.push("MQTT_DEVICES_PREFIX: should not be below TOPIC_PREFIX, where the home's agents are");
  const words = (get("MQTT_DEVICES_DANGER") ?? "").split(",").map((word) => word.trim());
  if (words.some((word) => word.length > 40) || words.length > 100)
    errors.push(
      "MQTT_DEVICES_DANGER: should be at most 100 words, with commas between them, of at most 40 characters",
    );
  const dangerText = words.filter((word) => word !== "");
  const days = readHistory(get("MQTT_HISTORY"), errors);
  const historyDays = folder === undefined ? undefined : days;
  const people = readPeople(get("HA_PEOPLE"), errors);
  const first = get("HA_FIRST");
  if (first !== "on" && first !== "off") errors.push("HA_FIRST: should be on or off");
  const presence = readPresence(get("PRESENCE"), errors);
  const place = readPlace(get("PLACE"), errors);
  const given = {
    ...(people.length > 0 && { people }),
    ...(presence.length > 0 && { presence }),
    ...(place && { place }),
    ...(first === "on" && { firstSource: "home-assistant" as const }),
  };
  return {
    mode,
    prefix,
    birth: birth === "on",
    dangerText,
    folder,
    historyDays,
    homeAssistant,
    signIn,
    ...given,
  };
}

const HISTORY_DAYS_MAX = 3_650;

function readHistory(value: string, errors: string[]): number | undefined {
  if (value === "off") return undefined;
  const days = /^\d{1,4}$/.test(value) ? Number(value) : 0;
  if (days < 1 || days > HISTORY_DAYS_MAX)
    errors.push(`MQTT_HISTORY: should be off, or a number of days from 1 to ${HISTORY_DAYS_MAX}`);
  return days;
}

function readMode(name: string, value: string, errors: string[]): DeviceSettings["mode"] {
  if (value === "off" || value === "read" || value === "allow") return value;
  errors.push(`${name}: should be off, read or allow`);
  return "off";
}

/** Reads where Home Assistant is reached. @returns undefined: none is named, or its devices are not wanted */
function readHomeAssistant(
  get: Get,
  token: (errors: string[]) => string | undefined,
  errors: string[],
): HomeAssistantSettings | undefined {
  const mode = readMode("HA_DEVICES", get("HA_DEVICES"), errors);
  const address = get("HA_URL");
  const first = token(errors);
  if (mode === "off" || (address === undefined && first === undefined)) return undefined;
  const url = URL.parse(address ?? "");
  const isKnown = url !== null && /^(?:https?|wss?):$/.test(url.protocol);
  if (!isKnown || url.username !== "" || url.search !== "")
    errors.push("HA_URL: should be Home Assistant's address, like http://homeassistant.local:8123");
  if (first === undefined)
    errors.push(
      "HA_TOKEN: missing; make a long-lived token in Home Assistant, as a user without administrator rights",
    );
  else if (!/^[\x21-\x7e]+$/.test(first))
    errors.push("HA_TOKEN: holds a space, a line break or another character that no token has");
  if (!isKnown || first === undefined) return undefined;
  const path = url.pathname.replace(/\/$/, "");
  // The Supervisor's own address is a socket's, and whole.
  const socket = url.protocol.startsWith("ws")
    ? `${url.protocol}//${url.host}${path}`
    : `${url.origin.replace(/^http/, "ws")}${path}/api/websocket`;
  return { url: socket, mode, token: () => token([]) ?? first };
}

const PERSON = /^(?:person|device_tracker)\.[a-z0-9_]{1,200}$/;
const PEOPLE_MAX = 50;

function readPeople(value: string | undefined, errors: string[]): string[] {
  const ids = (value ?? "").split(",").map((id) => id.trim());
  const named = ids.filter((id) => id !== "");
  if (named.length <= PEOPLE_MAX && named.every((id) => PERSON.test(id))) return named;
  errors.push(
    `HA_PEOPLE: should be at most ${PEOPLE_MAX} entity ids of person or device_tracker, with commas between them, like person.anna`,
  );
  return [];
}

/** To 0.1 degrees: sunrise is right to half a minute by that, and nobody finds the house. */
function readPlace(value: string | undefined, errors: string[]): DeviceSettings["place"] {
  if (value === undefined) return undefined;
  const [, lat = Number.NaN, lon = Number.NaN] =
    /^(-?\d{1,2}(?:\.\d+)?)\s*,\s*(-?\d{1,3}(?:\.\d+)?)$/.exec(value)?.map(Number) ?? [];
  if (Math.abs(lat) <= 90 && Math.abs(lon) <= 180)
    return { lat: Math.round(lat * 10) / 10, lon: Math.round(lon * 10) / 10 };
  errors.push("PLACE: should be latitude and longitude in degrees, like 52.5, 13.4");
  return undefined;
}

const PRESENCE_ENTITY = /^(?:person|device_tracker|binary_sensor)\.[a-z0-9_]{1,200}$/;
const PRESENCE_HOST = /^[A-Za-z0-9_][A-Za-z0-9._:-]{0,252}$/;
const PRESENCE_READING = /^([A-Za-z0-9_-]{1,64}):(.{1,100})$/;
const PRESENCE_NAME_MAX = 60;

function readPresence(value: string | undefined, errors: string[]): PresenceSource[] {
  const parts = (value ?? "").split(",").map((part) => part.trim());
  const read = parts.filter((part) => part !== "").map(presenceSource);
  const sources = read.filter((one) => one !== undefined);
  if (sources.length === read.length && sources.length <= PEOPLE_MAX) return sources;
  errors.push(
    `PRESENCE: should be at most ${PEOPLE_MAX} of NAME=SOURCE, with commas between them; a source is person.anna, device_tracker.anna, binary_sensor.hall, ping:192.168.1.23 or DEVICE:READING`,
  );
  return [];
}

function presenceSource(part: string): PresenceSource | undefined {
  const at = part.indexOf("=");
  const [given, of] = at < 0 ? ["", part] : [part.slice(0, at).trim(), part.slice(at + 1).trim()];
  const name = (given === "" ? of : given).slice(0, PRESENCE_NAME_MAX);
  if (PRESENCE_ENTITY.test(of)) return { name, of: "entity", entity: of };
  const host = of.startsWith("ping:") ? of.slice("ping:".length) : undefined;
  if (host !== undefined) return PRESENCE_HOST.test(host) ? { name, of: "ping", host } : undefined;
  const [, agent, reading] = PRESENCE_READING.exec(of) ?? [];
  return agent === undefined || reading === undefined ? undefined : { name, of: "reading", agent, reading };
}

/** Reads the key that pairing wrote. */
function ownKeyIn(folder: string | undefined, isNamed: boolean, errors: string[]): OwnKey | undefined {
  if (folder === undefined) return undefined;
  try {
    const key = readOwnKey(folder);
    if (key === undefined && isNamed)
      errors.push(`BRIDGE_STATE: no key.json and gateway.json in ${folder}; pair this machine first`);
    return key;
  } catch (error) {
    errors.push(`BRIDGE_STATE: ${messageOf(error)}`);
    return undefined;
  }
}

/** Reads the bridge's own password at a broker that it manages (broker-files.ts). */
function ownPassword(folder: string | undefined, get: Get, errors: string[]): string | undefined {
  if (folder === undefined || get("MQTT_USERNAME") !== undefined) return undefined;
  try {
    return readFileSync(join(folder, BRIDGE_PASSWORD_FILE), "utf8").trimEnd();
  } catch (error) {
    const why = messageOf(error);
    errors.push(`BROKER_FILES: not the folder that broker-files made (${why})`);
    return undefined;
  }
}

function readGatewayUrl(value: string | undefined, errors: string[]): string {
  const wanted = "the gateway's address, such as https://edgecall.example.workers.dev";
  if (value === undefined) {
    errors.push(`GATEWAY_URL: missing; ${wanted}`);
    return "";
  }
  const url = URL.parse(value);
  const scheme = url && { "http:": "ws:", "https:": "wss:", "ws:": "ws:", "wss:": "wss:" }[url.protocol];
  if (!url || !scheme) {
    errors.push(`GATEWAY_URL: not an http(s) or ws(s) address; it should be ${wanted}`);
    return "";
  }
  if (url.username !== "" || url.password !== "") {
    errors.push("GATEWAY_URL: holds a user or password; the token belongs in BRIDGE_TOKEN");
    return "";
  }
  return `${scheme}//${url.host}${url.pathname.replace(/\/+$/, "")}/bridge`;
}

function readSecret(name: string, path: string | undefined, errors: string[]): string | undefined {
  if (path === undefined) return undefined;
  try {
    // Editors add a line break.
    return readFileSync(path, "utf8").trimEnd() || undefined;
  } catch (error) {
    errors.push(`${name}_FILE: cannot read it: ${messageOf(error)}`);
    return undefined;
  }
}

function readToken(value: string | undefined, errors: string[]): string | undefined {
  if (value === undefined || /^[\x21-\x7e]+$/.test(value)) return value;
  errors.push("BRIDGE_TOKEN: holds a space, a line break or another character that no token has");
  return undefined;
}

function readMqttUrl(value: string, errors: string[]): string | undefined {
  if (value === "off") return undefined;
  const url = URL.parse(value);
  if (!url || !["mqtt:", "mqtts:", "ws:", "wss:"].includes(url.protocol) || url.hostname === "") {
    errors.push("MQTT_URL: not an address of a broker; it should look like mqtt://127.0.0.1:1883");
  }
  return value;
}

function readCa(path: string | undefined, errors: string[]): string | undefined {
  if (path === undefined) return undefined;
  try {
    const pem = readFileSync(path, "utf8");
    if (pem.includes("-----BEGIN CERTIFICATE-----")) return pem;
    errors.push(`MQTT_CA: ${path} is not a PEM file with a certificate`);
  } catch (error) {
    errors.push(`MQTT_CA: cannot read it: ${messageOf(error)}`);
  }
  return undefined;
}

function readPrefix(name: string, value: string, errors: string[]): string {
  if (!/^[^+#/\0]{1,64}(\/[^+#/\0]{1,64}){0,4}$/.test(value) || value.startsWith("$")) {
    errors.push(
      `${name}: should be a topic such as ${DEFAULT_TOPIC_PREFIX}, without +, #, $ or a / at its ends`,
    );
  }
  return value;
}

function readPort(value: string, errors: string[]): number {
  const port = /^\d{1,5}$/.test(value) ? Number(value) : Number.NaN;
  if (!(port <= 65_535)) errors.push("HEALTH_PORT: should be a port from 1 to 65535, or 0 for none");
  return port;
}

function readBridgeId(value: string | undefined, errors: string[]): string {
  if (value === undefined)
    return (
      hostname()
        .replace(/[^A-Za-z0-9_-]/g, "-")
        .slice(0, 64) || "bridge"
    );
  if (!/^[A-Za-z0-9_-]{1,64}$/.test(value)) {
    errors.push("BRIDGE_ID: should be 1 to 64 letters, digits, _ or -");
  }
  return value;
}
