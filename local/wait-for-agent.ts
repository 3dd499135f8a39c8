/** Waits until the agent of this machine is at its gateway. */
import { setTimeout as sleep } from "node:timers/promises";
import { type Client, ResponseError } from "@edgecall/client/client.ts";

/** An agent usually starts within a second; a busy machine needs more. */
const AGENT_WITHIN_MS = 30_000;
const LOOK_EVERY_MS = 50;

/** @throws an error for people when it is not online in time */
export async function waitForAgent(client: Client, agentId: string): Promise<void> {
  const signal = AbortSignal.timeout(AGENT_WITHIN_MS);
  let last = "the gateway did not answer";
  while (!signal.aborted) {
    try {
      const { agents } = await client.json("GET /v1/agents", { signal });
      if (agents.some(({ id, online }) => id === agentId && online)) return;
      const known = agents.map(({ id, online }) => `${id} (${online ? "online" : "offline"})`);
      last = `known agents: ${known.join(", ") || "none"}`;
    } catch (error) {
      if (error instanceof ResponseError && error.status < 500) throw error;
      if (!signal.aborted) last = error instanceof Error ? error.message : String(error);
    }
    await sleep(LOOK_EVERY_MS);
  }
  throw new Error(`agent '${agentId}' was not online within ${AGENT_WITHIN_MS / 1000} s; ${last}`);
}
