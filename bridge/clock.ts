/** Time as the bridge uses it; injected, so that the rules can be tested without waiting. */
export type Clock = {
  /** Monotonic ms: ages, budgets and deadlines. Does not jump when NTP sets the clock. */
  now(): number;
  /** Epoch ms: only for what a person reads (`last_seen`). */
  wall(): number;
};

export const systemClock: Clock = { now: () => performance.now(), wall: () => Date.now() };

/** How often the bridge looks at what has run out (presence, budgets). */
export const TICK_MS = 1_000;
/** A tick this late means that the process stood still: SIGSTOP, a suspended laptop, a starved Pi. */
const FROZEN_MS = 2_500;

/**
 * Knows when the process stood still.
 *
 * After a freeze timers run before sockets are read, so a call that is read right afterwards may have been
 * waiting for as long as the freeze lasted, and an agent may look silent whose heartbeats lie unread.
 */
export class FreezeWatch {
  readonly #now: () => number;
  #lastTick: number;
  #frozen: { from: number; until: number } | undefined;

  constructor(now: () => number) {
    this.#now = now;
    this.#lastTick = now();
  }

  /** To be called every TICK_MS. False when this tick is late: what has run out is then judged at the next. */
  tick(): boolean {
    const now = this.#now();
    const last = this.#lastTick;
    this.#lastTick = now;
    if (now - last <= FROZEN_MS) return true;
    this.#frozen = { from: last, until: now + TICK_MS };
    return false;
  }

  /** The earliest moment (monotonic ms) at which something that is read now may have arrived. */
  arrival(): number {
    const now = this.#now();
    if (now - this.#lastTick > FROZEN_MS) return this.#lastTick;
    if (this.#frozen !== undefined && now < this.#frozen.until) return this.#frozen.from;
    return now;
  }
}
