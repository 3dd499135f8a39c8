/** Asks an agent by a `ping` whether it is there. */
import type { HomeContext } from "../context.ts";
import { encodeCommand, GATEWAY_CALLER } from "./commands.ts";

/** An agent that is thawed later does not have to answer. */
const PING_LIFE_MS = 5_000;

/** Asks the agent whether it is there. It is seen, or counts as silent, when this resolves. */
export async function probe(home: HomeContext, agent: string): Promise<void> {
  const { asking } = home.life;
  const asked = asking.get(agent) ?? ping(home, agent).finally(() => asking.delete(agent));
  asking.set(agent, asked);
  await asked;
}

async function ping(home: HomeContext, agent: string): Promise<void> {
  const now = Date.now();
  const id = crypto.randomUUID();
  const expected = home.life.expect(id, agent);
  const n = home.ledger.nextN(now);
  const command = { agent, command: "ping", payload: {}, id, caller: GATEWAY_CALLER, n };
  const payload = await encodeCommand(home, command, PING_LIFE_MS, now);
  home.bridge.send({ t: "publish", agent, payload }, now);
  await expected;
}
