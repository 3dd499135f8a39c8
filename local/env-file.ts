/** The settings that a person keeps in the file .env of the working folder. */
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { parseEnv } from "node:util";
import { GATEWAY_VARIABLES } from "@edgecall/core/protocol/gateway-variables.ts";
import type { Environment } from "./settings.ts";

/** Names of the stack's own settings and of the bridge's, besides the gateway's. */
const OWN =
  /^(PORT|HOST|TLS_(CERT|KEY|PORT)|TELEGRAM_POLLING|UPGRADE_COPY|EDGECALL_(DIR|TOKEN)|TOPIC_PREFIX|HEALTH_(HOST|PORT)|(MQTT|BRIDGE)_[A-Z_]+)$/;

/**
 * Adds these settings alone from the folder's `.env`: it may belong to something else, and a variable such as NODE_OPTIONS would change
 * every program. A variable of the environment wins.
 * @param say names the file and the settings that came from it
 */
export function withEnvFile(env: Environment, folder: string, say: (line: string) => void): Environment {
  const file = resolve(folder, ".env");
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch {
    return env;
  }
  const fresh = Object.entries(parseEnv(text)).filter(
    ([name]) =>
      env[name] === undefined && (OWN.test(name) || (GATEWAY_VARIABLES as readonly string[]).includes(name)),
  );
  if (fresh.length > 0) say(`settings from ${file}: ${fresh.map(([name]) => name).join(", ")}`);
  return { ...Object.fromEntries(fresh), ...env };
}
