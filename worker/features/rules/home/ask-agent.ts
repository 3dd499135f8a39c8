/** Commands to agents that only Home waits for: which readings there are, and which rules. They are no calls, and have no row. */

import { agentAnswersOf } from "../../../kernel/home/agents/agent-answers.ts";
import { bridgeOf } from "../../../kernel/home/bridge/bridge-socket.ts";
import { encodeCommand, GATEWAY_CALLER } from "../../../kernel/home/calls/commands.ts";
import type { HomeContext } from "../../../kernel/home/context.ts";
import { ledgerOf } from "../../../kernel/home/ledger/ledger.ts";

/** @returns the report's payload; undefined: the agent did not answer in time, or no bridge is there */
export async function askAgent(
  home: HomeContext,
  agent: string,
  command: "readings" | "watch_set",
  payload: Record<string, unknown>,
  withinMs: number,
): Promise<Record<string, unknown> | undefined> {
  const now = Date.now();
  const id = crypto.randomUUID();
  const expected = agentAnswersOf(home).expect(id, agent, withinMs);
  const asked = { agent, command, payload, id, caller: GATEWAY_CALLER, n: ledgerOf(home).nextN(now) };
  const text = await encodeCommand(home, asked, withinMs, now);
  bridgeOf(home).send({ t: "publish", agent, payload: text }, now);
  return await expected;
}
