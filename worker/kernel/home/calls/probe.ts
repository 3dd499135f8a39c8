/** Asks an agent by a `ping` whether it is there. */

import { bridgeOf } from "../bridge/bridge-socket.ts";
import type { HomeContext } from "../context.ts";
import { encodeCommand, GATEWAY_CALLER } from "./commands.ts";
import { ledgerOf } from "./ledger.ts";
import { lifeSignsOf } from "./life-signs.ts";

/** An agent that is thawed later does not have to answer. */
const PING_LIFE_MS = 5_000;

/** Asks the agent whether it is there. It is seen, or counts as silent, when this resolves. */
export async function probe(home: HomeContext, agent: string): Promise<void> {
  const { asking } = lifeSignsOf(home);
  const asked = asking.get(agent) ?? ping(home, agent).finally(() => asking.delete(agent));
  asking.set(agent, asked);
  await asked;
}

async function ping(home: HomeContext, agent: string): Promise<void> {
  const now = Date.now();
  const id = crypto.randomUUID();
  const expected = lifeSignsOf(home).expect(id, agent);
  const n = ledgerOf(home).nextN(now);
  const command = { agent, command: "ping", payload: {}, id, caller: GATEWAY_CALLER, n };
  const payload = await encodeCommand(home, command, PING_LIFE_MS, now);
  bridgeOf(home).send({ t: "publish", agent, payload }, now);
  await expected;
}
