/** Checks settings before any program starts, so that a mistake is one line at once instead of a program's time-out. */

import { tlsHint } from "@edgecall/core/protocol/broker-tls.ts";
import type { Parsed } from "@edgecall/core/protocol/parse.ts";
import { MODULES } from "@edgecall/node/places.ts";
import { connect } from "mqtt";
import { type BridgeSettings, readSettings as readBridgeSettings } from "../bridge/settings.ts";
import { type Environment, workerVars } from "./settings.ts";

const BROKER_WITHIN_MS = 10_000;
/** Codes of MQTT 3.1.1 and 5 for a bad user name or password, and for not authorised. */
const LOGIN_REFUSED = [4, 5, 134, 135];

type WorkerSettings = { settingsOrError(env: Record<string, string>): object };

/** workerd is built for these alone. @throws with words for a person on another machine, which can still be a device or use the commands */
export function checkMachine({ platform, arch }: Pick<NodeJS.Process, "platform" | "arch">): void {
  if (platform === "win32") throw new Error("on Windows the gateway runs under WSL: install edgecall there");
  if (arch !== "x64" && arch !== "arm64")
    throw new Error(
      `the gateway needs a 64-bit processor, and this Node is for ${arch}. This machine can be a device: run a gateway elsewhere, and there \`edgecall pair\``,
    );
}

/** Reads the settings as the programs will. @returns the settings for the broker */
export async function checkSettings(env: Environment): Promise<Parsed<BridgeSettings>> {
  const { settingsOrError } = (await import(MODULES.workerSettings)) as WorkerSettings;
  const worker = settingsOrError(workerVars(env));
  if (worker instanceof Error) return { ok: false, error: worker.message };
  // npm start itself passes these to the bridge.
  const given = { GATEWAY_URL: "http://127.0.0.1", BRIDGE_TOKEN: "x".repeat(43) };
  const bridge = readBridgeSettings({ ...env, ...given });
  return bridge.ok ? { ok: true, value: bridge.settings } : { ok: false, error: bridge.errors.join("\n") };
}

/** Logs in at the broker once, if there is one. @throws an error for people that names the settings to check */
export async function checkBroker(settings: BridgeSettings): Promise<void> {
  const { mqttUrl, mqttUsername, mqttPassword, mqttCa } = settings;
  if (mqttUrl === undefined) return;
  // Without user and password.
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
