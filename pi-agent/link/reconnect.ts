/** When to try the broker again. Pure but for the dice. */

export const FIRST_DELAY_MS = 500;
export const LAST_DELAY_MS = 30_000;
/**
 * A connection that held this long was a good one: the next loss starts over with the first delay. Short: a
 * broker that is restarted twice must not cost a home half a minute.
 */
export const STABLE_MS = 2_000;

export class Reconnect {
  readonly #now: () => number;
  readonly #random: () => number;
  #attempts = 0;
  #connectedAt: number | undefined;

  constructor(now: () => number = () => performance.now(), random: () => number = Math.random) {
    this.#now = now;
    this.#random = random;
  }

  connected(): void {
    this.#connectedAt = this.#now();
  }

  /** A connection was lost or an attempt failed. @returns how long to wait, in ms */
  lost(): number {
    if (this.#connectedAt !== undefined) {
      if (this.#now() - this.#connectedAt >= STABLE_MS) this.#attempts = 0;
      this.#connectedAt = undefined;
    }
    const ceiling = Math.min(LAST_DELAY_MS, FIRST_DELAY_MS * 2 ** Math.min(this.#attempts, 10));
    this.#attempts += 1;
    // Half fixed, half dice: a home's agents must not all come back in the same moment after a power cut.
    return ceiling * (0.5 + this.#random() / 2);
  }
}
