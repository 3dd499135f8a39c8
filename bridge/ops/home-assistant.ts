/**
 * Settings for a bridge that runs as an app (add-on) of Home Assistant. They come from the app's page instead of the
 * environment. The broker comes from the Supervisor, unless the page names another.
 */
import { chownSync, mkdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { check, checkJson, z } from "@edgecall/core/protocol/parse.ts";

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
  return { ...settings, ...(await supervisorBroker(url, token)) };
}

async function supervisorBroker(url: string, token: string): Promise<Environment> {
  const response = await fetch(`${url}/services/mqtt`, {
    headers: { authorization: `Bearer ${token}` },
    signal: AbortSignal.timeout(SUPERVISOR_WITHIN_MS),
  });
  const body: unknown = await response.json().catch(() => undefined);
  const service = response.ok ? check(MqttService, body) : undefined;
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
