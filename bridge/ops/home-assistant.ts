/**
 * Settings for a bridge that runs as an app (add-on) of Home Assistant. They come from the app's page instead of the
 * environment. Broker and Home Assistant come from the Supervisor, unless the page names others.
 */
import { chownSync, mkdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { check, checkJson, z } from "@edgecall/core/protocol/parse.ts";
import { messageOf } from "@edgecall/node/log.ts";

type Environment = Record<string, string | undefined>;

/** The fields of the page (home-assistant/edgecall_bridge/config.yaml). Empty is the same as absent. */
const Options = z.looseObject({
  gateway_url: z.optional(z.string()),
  bridge_token: z.optional(z.string()),
  mqtt_url: z.optional(z.string()),
  mqtt_username: z.optional(z.string()),
  mqtt_password: z.optional(z.string()),
  topic_prefix: z.optional(z.string()),
  mqtt_devices: z.optional(z.string()),
  ha_url: z.optional(z.string()),
  ha_token: z.optional(z.string()),
  ha_devices: z.optional(z.string()),
  ha_first: z.optional(z.boolean()),
  ha_people: z.optional(z.string()),
  debug: z.optional(z.boolean()),
});

/** `GET /services/mqtt` of the Supervisor's API. */
const MqttService = z.looseObject({
  data: z.looseObject({
    host: z.string(),
    port: z.number(),
    ssl: z.optional(z.boolean()),
    username: z.optional(z.string()),
    password: z.optional(z.string()),
  }),
});

/** The user that runs the bridge in the image. Root only reads the options, which nobody else may read. */
const USER = 10_001;
const SUPERVISOR_WITHIN_MS = 10_000;

export type Supervisor = { url: string; optionsFile: string };
const SUPERVISOR: Supervisor = { url: "http://supervisor", optionsFile: "/data/options.json" };

/**
 * Adds the settings of the app's page and the Supervisor to the environment. Without a Supervisor nothing is added.
 * @throws with a text for a person
 */
export async function withHomeAssistant(
  env: Environment,
  { url, optionsFile }: Supervisor = SUPERVISOR,
): Promise<Environment> {
  const token = env.SUPERVISOR_TOKEN;
  if (!token) return env;
  const options = checkJson(Options, readFileSync(optionsFile, "utf8"));
  if (!options.ok) throw new Error(`${optionsFile}: ${options.error}`);
  const { value } = options;
  const settings: Environment = {
    ...env,
    GATEWAY_URL: value.gateway_url,
    BRIDGE_TOKEN: value.bridge_token,
    TOPIC_PREFIX: value.topic_prefix,
    MQTT_DEVICES: value.mqtt_devices,
    // The Supervisor's token is an administrator's: the bridge's own list of services is the fence.
    HA_URL: value.ha_url || `${url.replace(/^http/, "ws")}/core/websocket`,
    HA_TOKEN: value.ha_url ? value.ha_token : token,
    HA_DEVICES: value.ha_devices,
    HA_PEOPLE: value.ha_people,
    ...(value.ha_first && { HA_FIRST: "on" }),
    // Home Assistant keeps the folder of the options over updates.
    BRIDGE_STATE: join(dirname(optionsFile), "bridge"),
    ...(value.debug && { LOG_LEVEL: "debug" }),
  };
  if (value.mqtt_url)
    return {
      ...settings,
      MQTT_URL: value.mqtt_url,
      MQTT_USERNAME: value.mqtt_username,
      MQTT_PASSWORD: value.mqtt_password,
    };
  const isAlone = value.ha_devices === "off";
  return { ...settings, ...(await supervisorBroker(url, token, isAlone)) };
}

/** @param isAlone without a broker there would be no agents */
async function supervisorBroker(url: string, token: string, isAlone: boolean): Promise<Environment> {
  const response = await fetch(`${url}/services/mqtt`, {
    headers: { authorization: `Bearer ${token}` },
    signal: AbortSignal.timeout(SUPERVISOR_WITHIN_MS),
  });
  const body: unknown = await response.json().catch(() => undefined);
  const service = response.ok ? check(MqttService, body) : undefined;
  if (!service?.ok && !isAlone) return { MQTT_URL: "off" };
  if (!service?.ok)
    throw new Error(
      "mqtt_url: not set, and Home Assistant knows no broker; install the Mosquitto app, or name a broker",
    );
  const { host, port, ssl, username, password } = service.value.data;
  return {
    MQTT_URL: `${ssl ? "mqtts" : "mqtt"}://${host}:${port}`,
    MQTT_USERNAME: username,
    MQTT_PASSWORD: password,
  };
}

/**
 * Shows the gateway's MCP server as a card in Home Assistant, by which its own assistant may use the home's agents after a sign-in.
 * @returns why it could not; undefined: it is shown, or there is no Supervisor
 */
export async function offerMcp(
  { SUPERVISOR_TOKEN: token, GATEWAY_URL: gateway }: Environment,
  { url }: Pick<Supervisor, "url"> = SUPERVISOR,
): Promise<string | undefined> {
  const origin = URL.parse(gateway ?? "")?.origin;
  if (!token || origin === undefined) return undefined;
  try {
    const response = await fetch(`${url}/discovery`, {
      method: "POST",
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      body: JSON.stringify({ service: "mcp", config: { url: `${origin}/mcp` } }),
      signal: AbortSignal.timeout(SUPERVISOR_WITHIN_MS),
    });
    return response.ok ? undefined : `the Supervisor answers ${response.status}`;
  } catch (error) {
    return messageOf(error);
  }
}

/**
 * Home Assistant starts its apps as root. The bridge does not need root once the options are read, and its folder is its user's.
 * @param folder for the bridge's files
 */
export function becomeNobody(folder: string | undefined): void {
  if (process.getuid?.() !== 0) return;
  if (folder !== undefined) {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    chownSync(folder, USER, USER);
  }
  process.setgroups?.([]);
  process.setgid?.(USER);
  process.setuid?.(USER);
}
