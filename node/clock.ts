/** The clocks of a program. They are passed in, so that rules about time can be tested without waiting. */
export type Clock = {
  /** Monotonic ms, for ages, budgets and deadlines. It does not jump when NTP sets the clock. */
  now(): number;
  /** Epoch ms, only for what a person reads (`last_seen`). */
  wall(): number;
};

export const systemClock: Clock = { now: () => performance.now(), wall: () => Date.now() };

/** A smaller difference comes of reading two clocks one after the other, or of a clock that is adjusted slowly. */
const SET_MS = 1_000;

/**
 * Epoch ms that go on by the steady clock until the system's clock was set. A machine that was asleep counts as set too: its
 * steady clock stood still, and nothing was measured meanwhile.
 */
export class SteadyTime {
  readonly #clock: Clock;
  #offset: number;

  constructor(clock: Clock = systemClock) {
    this.#clock = clock;
    this.#offset = clock.wall() - clock.now();
  }

  /** @returns the time, and by how many ms the clock was set since the last reading: 0 is not at all, below 0 is back */
  read(): { at: number; setBy: number } {
    const steady = this.#clock.now();
    const off = Math.round(this.#clock.wall() - steady - this.#offset);
    const setBy = Math.abs(off) > SET_MS ? off : 0;
    this.#offset += setBy;
    return { at: Math.floor(steady + this.#offset), setBy };
  }
}
