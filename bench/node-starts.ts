/** The ways in which the bench starts Node for an agent, and for a Node that does nothing. */
import { BRIDGE_NODE_ENVIRONMENT, BRIDGE_NODE_FLAGS } from "../bridge/node-options.ts";
import { NODE_ENVIRONMENT, NODE_FLAGS } from "../pi-agent/config/node-options.ts";

export type NodeStart = { flags: readonly string[]; env: Readonly<Record<string, string>> };

/** systemd watches an installed agent; in a shell a thread does that, and takes about 10 MiB (pi-agent/watchdog.ts). */
const WATCHED_BY_SYSTEMD = { EDGECALL_STUCK_SECS: "0" };

/** As the service starts the agent. */
export const AS_INSTALLED: NodeStart = {
  flags: NODE_FLAGS,
  env: { ...NODE_ENVIRONMENT, ...WATCHED_BY_SYSTEMD },
};

/** As the bridge is started by its image, which is Home Assistant's app too, and by `npm start`. */
export const AS_IMAGE: NodeStart = { flags: BRIDGE_NODE_FLAGS, env: BRIDGE_NODE_ENVIRONMENT };

/** Plain Node, and Node as the service starts the agent. */
export const NODE_STARTS: readonly NodeStart[] = [{ flags: [], env: WATCHED_BY_SYSTEMD }, AS_INSTALLED];

/** Returns the start as a shell command line. */
export function startWords({ flags, env }: NodeStart): string {
  const words = [...Object.entries(env).map(([name, value]) => `${name}=${value}`), ...flags];
  return words.length > 0 ? words.join(" ") : "no flags";
}
