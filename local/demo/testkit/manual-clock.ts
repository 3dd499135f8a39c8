/** A clock that a test moves. */
import type { DemoClock } from "../clock.ts";

type Timer = { at: number; run: () => void };

export class ManualClock implements DemoClock {
  #now: number;
  #timers: Timer[] = [];

  /** @param now epoch ms */
  constructor(now = Date.UTC(2026, 10, 27, 10)) {
    this.#now = now;
  }

  now(): number {
    return this.#now;
  }

  after(ms: number, run: () => void): () => void {
    const timer = { at: this.#now + ms, run };
    this.#timers.push(timer);
    return () => {
      this.#timers = this.#timers.filter((one) => one !== timer);
    };
  }

  /** Runs what is due until then, in its order. */
  go(ms: number): void {
    const end = this.#now + ms;
    for (;;) {
      const next = this.#timers.reduce<Timer | undefined>(
        (first, one) => (one.at <= end && (!first || one.at < first.at) ? one : first),
        undefined,
      );
      if (!next) break;
      this.#timers = this.#timers.filter((one) => one !== next);
      this.#now = next.at;
      next.run();
    }
    this.#now = end;
  }
}
