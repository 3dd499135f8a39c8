/** Commands to agents that only Home waits for: which readings there are, which rules, and what was. They are no calls, and have no row. */

import { agentAnswersOf } from "../agents/agent-answers.ts";
import { bridgeOf } from "../bridge/bridge-socket.ts";
import type { HomeContext } from "../context.ts";
import { ledgerOf } from "../ledger/ledger.ts";
import { encodeCommand, GATEWAY_CALLER } from "./commands.ts";

/** @returns the report's payload; undefined: the agent did not answer in time, or no bridge is there */
export async function askAgent(
  home: HomeContext,
  agent: string,
  command: "past" | "readings" | "watch_set",
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
