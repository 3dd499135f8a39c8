/** These checks run before any program starts: a mistake in a setting is one line at once, not a time-out of a program. */

import { tlsHint } from "@edgecall/core/protocol/broker-tls.ts";
import type { Parsed } from "@edgecall/core/protocol/parse.ts";
import { connect } from "mqtt";
import { type BridgeSettings, readSettings as readBridgeSettings } from "../bridge/settings.ts";
import { type Environment, workerVars } from "./settings.ts";

const BROKER_WITHIN_MS = 10_000;
/** Bad user name or password, not authorised: of MQTT 3.1.1, and of 5. */
const LOGIN_REFUSED = [4, 5, 134, 135];

/** Imported by its address: the Worker is compiled with Cloudflare's types, and this is Node. */
const WORKER_SETTINGS = new URL("../worker/settings/settings.ts", import.meta.url).href;
type WorkerSettings = { settingsOrError(env: Record<string, string>): object };

/** The settings as the programs will read them. @returns what the broker is reached with */
export async function checkSettings(env: Environment): Promise<Parsed<BridgeSettings>> {
  const { settingsOrError } = (await import(WORKER_SETTINGS)) as WorkerSettings;
  const worker = settingsOrError(workerVars(env));
  if (worker instanceof Error) return { ok: false, error: worker.message };
  // npm start itself gives these to the bridge.
  const given = { GATEWAY_URL: "http://127.0.0.1", BRIDGE_TOKEN: "x".repeat(43) };
  const bridge = readBridgeSettings({ ...env, ...given });
  return bridge.ok ? { ok: true, value: bridge.settings } : { ok: false, error: bridge.errors.join("\n") };
}

/** Logs in at somebody's broker, once. @throws in words with the settings to look at */
export async function checkBroker(settings: BridgeSettings): Promise<void> {
  const { mqttUrl, mqttUsername, mqttPassword, mqttCa } = settings;
  // Without what may stand before the host: a password.
  const { host } = new URL(mqttUrl);
  const client = connect(mqttUrl, {
    clientId: `edgecall-check-${crypto.randomUUID().slice(0, 8)}`,
    connectTimeout: BROKER_WITHIN_MS,
    reconnectPeriod: 0,
    ...(mqttUsername !== undefined && { username: mqttUsername }),
    ...(mqttPassword !== undefined && { password: mqttPassword }),
    ...(mqttCa !== undefined && { ca: mqttCa }),
  });
  try {
    await new Promise<void>((resolve, reject) => {
      client.once("connect", () => resolve());
      client.on("error", reject);
      client.once("close", () => reject(new Error("it closed the connection, or did not answer")));
    });
  } catch (error) {
    const { message, code } = error as Error & { code?: string | number };
    if (LOGIN_REFUSED.includes(Number(code)))
      throw new Error(
        `the broker at ${host} refused the login (${message}): MQTT_USERNAME and MQTT_PASSWORD have to be those of a user there`,
      );
    const hint = tlsHint(code, "MQTT_CA");
    throw new Error(
      `MQTT_URL: no connection to a broker at ${host}: ${message || code}${hint ? `; ${hint}` : ""}`,
    );
  } finally {
    client.end(true);
  }
}
