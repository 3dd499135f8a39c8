/** Acks of stored reports that wait for the next call to their agent, or for a moment to pass. */
import { slot } from "../slot.ts";

/** An agent sends a report again after 30 s. */
const GATHER_MS = 250;

/** The acks that wait, by agent. */
export class PendingAcks {
  readonly #waiting = new Map<string, string[]>();
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** @param flush called once after a moment, if acks wait @returns how many of this agent wait */
  add(agent: string, id: string, flush: () => void): number {
    const ids = this.#waiting.get(agent) ?? [];
    this.#waiting.set(agent, ids);
    if (!ids.includes(id)) ids.push(id);
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      if (this.#waiting.size > 0) flush();
    }, GATHER_MS);
    return ids.length;
  }

  /** Takes out the acks of an agent, at most ACKS_MAX. */
  take(agent: string): string[] {
    const ids = this.#waiting.get(agent) ?? [];
    this.#waiting.delete(agent);
    return ids;
  }

  agents(): string[] {
    return [...this.#waiting.keys()];
  }
}

export const acksOf = slot(() => new PendingAcks());
