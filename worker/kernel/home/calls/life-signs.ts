/**
 * Tells whether an agent answers at this moment: the bridge learns of a frozen device only after its keep-alive. A message of
 * a moment ago shows it, else a `ping` (probe.ts). In memory alone: a Home that was rebuilt asks anew.
 */
import { slot } from "../slot.ts";

/** A message shows for so long that its agent answers. */
const ALIVE_MS = 5_000;
const PROBE_MS = 700;
/** An agent that answered no probe comes after the others for so long. */
const SILENT_MS = 30_000;

type Probe = { agent: string; answered: () => void };

export class LifeSigns {
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
