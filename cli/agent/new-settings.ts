/** Makes the settings of a device that has none yet. */
import { hostname } from "node:os";
import { AGENT_ID } from "@edgecall/core/protocol/names.ts";
import { AgentSettingsError, readSettings } from "@edgecall/pi-agent/config/settings.ts";
import { UsageError } from "../command.ts";
import { AGENT } from "../service/services.ts";

/** The default: a broker on this machine. */
export const BROKER_HERE = "mqtt://127.0.0.1:1883";

export type Wanted = {
  id: string | undefined;
  broker: string | undefined;
  username: string | undefined;
  password: string | undefined;
  /** Default: the service's. */
  stateDir?: string;
};

/** @throws UsageError when a value is wrong */
export function newSettings({ id, broker, username, password, stateDir }: Wanted): string {
  const mqtt = Object.entries({ url: broker ?? BROKER_HERE, username, password }).filter(
    (entry): entry is [string, string] => entry[1] !== undefined,
  );
  const text = `# This device's agent; agent.example.toml has every key. After a change: sudo systemctl restart edgecall-agent
agent_id = ${JSON.stringify(id ?? nameOfHost())}
${stateDir === undefined ? "" : `state_dir = ${JSON.stringify(stateDir)}\n`}
[mqtt]
${mqtt.map(([key, value]) => `${key} = ${JSON.stringify(value)}\n`).join("")}`;
  checkSettings(text);
  return text;
}

/** @throws UsageError with every problem */
export function checkSettings(text: string): void {
  try {
    readSettings(text, { file: AGENT.places.settings, env: { STATE_DIRECTORY: AGENT.places.state } });
  } catch (error) {
    if (error instanceof AgentSettingsError) throw new UsageError(error.message);
    throw error;
  }
}

/** Turns the host's name into an agent's id. */
export function nameOfHost(): string {
  const name = hostname()
    .replace(/[^A-Za-z0-9_-]+/g, "-")
    .slice(0, 64);
  return AGENT_ID.test(name) ? name : "agent";
}
