/** The ways in which the bench starts Node for an agent, and for a Node that does nothing beside it. */
import { NODE_ENVIRONMENT, NODE_FLAGS } from "../../pi-agent/node-options.ts";

export type NodeStart = { flags: readonly string[]; env: Readonly<Record<string, string>> };

/** As Node is by itself, and as the agent is started. */
export const NODE_STARTS: readonly NodeStart[] = [
  { flags: [], env: {} },
  { flags: NODE_FLAGS, env: NODE_ENVIRONMENT },
];

/** As a shell has it. */
export function startWords({ flags, env }: NodeStart): string {
  const words = [...Object.entries(env).map(([name, value]) => `${name}=${value}`), ...flags];
  return words.length > 0 ? words.join(" ") : "no flags";
}
