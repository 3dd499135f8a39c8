/** When to try the broker again. Pure but for the dice. */

export const FIRST_DELAY_MS = 500;
export const LAST_DELAY_MS = 30_000;
/**
 * A connection that held this long was a good one: the next loss starts over with the first delay. Short: a
 * broker that is restarted twice must not cost a home half a minute.
 */
export const STABLE_MS = 2_000;
/** Two agents with one id throw each other out at every turn; this many losses … */
const DUEL_LOSSES = 5;
/** … within this time, with the other one's presence seen, are a duel and not a bad network. */
const DUEL_WINDOW_MS = 60_000;
/** Long enough that the other one can work, short enough that a mended set-up comes back by itself. */
export const DUEL_DELAY_MS = 60_000;

export class Reconnect {
  readonly #now: () => number;
  readonly #random: () => number;
  #attempts = 0;
  #connectedAt: number | undefined;
  #losses: number[] = [];
  #strangerSeenAt = Number.NEGATIVE_INFINITY;

  constructor(now: () => number = () => performance.now(), random: () => number = Math.random) {
    this.#now = now;
    this.#random = random;
  }

  connected(): void {
    this.#connectedAt = this.#now();
  }

  /** Someone else's boot id stood in our own presence. */
  strangerSeen(): void {
    this.#strangerSeenAt = this.#now();
  }

  /** A connection was lost or an attempt failed. @returns how long to wait, and whether this is a duel */
  lost(): { delayMs: number; duel: boolean } {
    const now = this.#now();
    if (this.#connectedAt !== undefined) {
      if (now - this.#connectedAt >= STABLE_MS) this.#attempts = 0;
      this.#losses = [...this.#losses.filter((at) => now - at < DUEL_WINDOW_MS), now];
      this.#connectedAt = undefined;
    }
    if (this.#losses.length >= DUEL_LOSSES && now - this.#strangerSeenAt < DUEL_WINDOW_MS) {
      this.#losses = [];
      return { delayMs: DUEL_DELAY_MS, duel: true };
    }
    const ceiling = Math.min(LAST_DELAY_MS, FIRST_DELAY_MS * 2 ** Math.min(this.#attempts, 10));
    this.#attempts += 1;
    // Half fixed, half dice: a home's agents must not all come back in the same moment after a power cut.
    return { delayMs: ceiling * (0.5 + this.#random() / 2), duel: false };
  }
}
