/** Asks the gateway over its HTTP routes, as any program would. */

import { setTimeout as sleep } from "node:timers/promises";
import { z } from "@edgecall/core/protocol/parse.ts";
import { cutText } from "@edgecall/core/text/cut.ts";

/** An agent usually starts within a second; a busy machine needs more. */
const AGENT_WITHIN_MS = 30_000;
const LOOK_EVERY_MS = 50;
/** The longest a turn may take here: a device's prompt may run for 15 minutes. */
const ANSWER_WITHIN_MS = 16 * 60_000;
const ANSWER_LOOK_EVERY_MS = 500;

const Agents = z.object({ agents: z.array(z.object({ id: z.string(), online: z.boolean() })) });
const TurnView = z.object({
  turn: z.string(),
  status: z.string(),
  answer: z.optional(z.nullable(z.string())),
  error: z.optional(z.unknown()),
  calls: z.optional(
    z.array(
      z.looseObject({
        status: z.string(),
        tool: z.optional(z.nullable(z.string())),
        action: z.optional(z.nullable(z.string())),
      }),
    ),
  ),
  usage: z.optional(z.object({ input_tokens: z.number(), output_tokens: z.number() })),
});
export type TurnView = z.infer<typeof TurnView>;

export type Client = { url: string; token: string };

/** Waits until an agent is online. @throws an error for people when none is in time */
export async function waitForAgent(
  client: Client,
  agentId: string,
  withinMs = AGENT_WITHIN_MS,
): Promise<void> {
  const end = performance.now() + withinMs;
  let last = "the gateway did not answer";
  while (performance.now() < end) {
    try {
      const { agents } = Agents.parse(
        await call(client, "/v1/agents", { signal: AbortSignal.timeout(withinMs) }),
      );
      if (agents.some((agent) => agent.id === agentId && agent.online)) return;
      const known = agents.map((agent) => `${agent.id} (${agent.online ? "online" : "offline"})`);
      last = `known agents: ${known.join(", ") || "none"}`;
    } catch (error) {
      if (error instanceof Refused) throw error;
      last = describe(error);
    }
    await sleep(LOOK_EVERY_MS);
  }
  throw new Error(`agent '${agentId}' was not online within ${withinMs / 1000} s; ${last}`);
}

/** Asks a question in a conversation, and waits for its end; a turn that takes too long is still `running`. @throws when the gateway cannot be reached */
export async function askTurn(client: Client, conversation: string, text: string): Promise<TurnView> {
  const path = `/v1/conversations/${encodeURIComponent(conversation)}`;
  let view = TurnView.parse(
    await call(client, `${path}/messages`, { method: "POST", body: JSON.stringify({ text }) }),
  );
  const end = performance.now() + ANSWER_WITHIN_MS;
  while (view.status === "running") {
    if (performance.now() > end) return view;
    await sleep(ANSWER_LOOK_EVERY_MS);
    view = TurnView.parse(await call(client, `${path}/turns/${encodeURIComponent(view.turn)}`));
  }
  return view;
}

/** The gateway refused the request, so a retry would not help. */
class Refused extends Error {
  override readonly name = "Refused";
}

async function call(client: Client, path: string, init: RequestInit = {}): Promise<unknown> {
  const response = await fetch(`${client.url}${path}`, {
    ...init,
    headers: { authorization: `Bearer ${client.token}`, "content-type": "application/json" },
  });
  const body = await response.text();
  if (!response.ok) {
    const what = `${init.method ?? "GET"} ${path}: ${response.status} ${cutText(body, 500)}`;
    throw response.status < 500 ? new Refused(what) : new Error(what);
  }
  return JSON.parse(body);
}

function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? `${error.message}: ${error.cause.message}` : error.message;
}
