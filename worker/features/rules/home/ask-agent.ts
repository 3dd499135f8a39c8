/** Commands to agents that only Home waits for: which readings there are, and which rules. They are no calls, and have no row. */
import { encodeCommand, GATEWAY_CALLER } from "../../../kernel/home/calls/commands.ts";
import type { HomeContext } from "../../../kernel/home/context.ts";

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
  const expected = home.ruleAnswers.expect(id, agent, withinMs);
  const asked = { agent, command, payload, id, caller: GATEWAY_CALLER, n: home.ledger.nextN(now) };
  const text = await encodeCommand(home, asked, withinMs, now);
  home.bridge.send({ t: "publish", agent, payload: text }, now);
  return await expected;
}
