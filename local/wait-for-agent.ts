/** Waits until the agent of this machine is at its gateway. */
import { setTimeout as sleep } from "node:timers/promises";
import { type Client, ResponseError } from "@edgecall/client/client.ts";
import { waitPatiently } from "./patience.ts";

const LOOK_EVERY_MS = 50;

/**
 * @param say a line for a person who waits long
 * @throws an error for people when the gateway refuses, or the agent is not online in five minutes
 */
export async function waitForAgent(
  client: Client,
  agentId: string,
  say: (line: string) => void,
): Promise<void> {
  const ended = new AbortController();
  let last = "the gateway did not answer";
  const isOnline = async () => {
    try {
      const { agents } = await client.json("GET /v1/agents", { signal: ended.signal });
      if (agents.some(({ id, online }) => id === agentId && online)) return true;
      const known = agents.map(({ id, online }) => `${id} (${online ? "online" : "offline"})`);
      last = `known agents: ${known.join(", ") || "none"}`;
    } catch (error) {
      if (error instanceof ResponseError && error.status < 500) throw error;
      last = error instanceof Error ? error.message : String(error);
    }
    return false;
  };
  const look = async () => {
    while (!ended.signal.aborted && !(await isOnline())) await sleep(LOOK_EVERY_MS);
  };
  const missing = () => `agent '${agentId}' is not online; ${last}`;
  try {
    await waitPatiently(look(), { missing, say });
  } finally {
    ended.abort();
  }
}
