/**
 * Tells whether an agent answers at this moment: the bridge learns of a frozen device only after its keep-alive. A message of
 * a moment ago shows it, else a `ping`. In memory alone: a Home that was rebuilt asks anew.
 */
import { bridgeOf } from "../bridge/bridge-socket.ts";
import type { HomeContext } from "../context.ts";
import { ledgerOf } from "../ledger/ledger.ts";
import { slot } from "../slot.ts";
import { encodeCommand, GATEWAY_CALLER } from "./commands.ts";

/** A message shows for so long that its agent answers. */
const ALIVE_MS = 5_000;
const PROBE_MS = 700;
/** An agent that answered no probe comes after the others for so long. */
const SILENT_MS = 30_000;

type Probe = { agent: string; answered: () => void };

class LifeSigns {
  readonly #seenAt = new Map<string, number>();
  readonly #silentSince = new Map<string, number>();
  /** By the id of their `ping`. */
  readonly #probes = new Map<string, Probe>();
  /** Probes that are out, by agent: several calls share one. */
  readonly asking = new Map<string, Promise<void>>();

  /** It sent something new. */
  seen(agent: string, now: number): void {
    this.#seenAt.set(agent, now);
    this.#silentSince.delete(agent);
  }

  isAlive(agent: string, now: number): boolean {
    return now - (this.#seenAt.get(agent) ?? 0) < ALIVE_MS;
  }

  isSilent(agent: string, now: number): boolean {
    return now - (this.#silentSince.get(agent) ?? 0) < SILENT_MS;
  }

  /** A report came. @returns false: it answers no probe of this agent */
  answered(id: string, agent: string, now: number): boolean {
    const probe = this.#probes.get(id);
    if (probe?.agent !== agent) return false;
    this.seen(agent, now);
    probe.answered();
    return true;
  }

  /** Resolves when the agent has answered, or after PROBE_MS. */
  async expect(id: string, agent: string): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(() => {
      const now = Date.now();
      if (!this.isAlive(agent, now)) this.#silentSince.set(agent, now);
      resolve();
    }, PROBE_MS);
    this.#probes.set(id, { agent, answered: resolve });
    await promise;
    clearTimeout(timer);
    this.#probes.delete(id);
  }
}

export const lifeSignsOf = slot(() => new LifeSigns());

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
