/** The time-out of a call. It pauses while a question is open, since a person may take longer than any tool. */

/** The longest time of a Node timer (24.8 days). */
const TIMER_MAX_MS = 2 ** 31 - 1;

export class CallTimer {
  readonly #now: () => number;
  #leftMs: number;
  #since: number;
  #pauses = 0;
  #onOver: (() => void) | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** @param ms from now on; Infinity = no time-out */
  constructor(ms: number, now: () => number = () => performance.now()) {
    this.#leftMs = ms;
    this.#now = now;
    this.#since = now();
  }

  /** Returns the time left in ms; never below 0. */
  remainingMs(): number {
    const spent = this.#pauses > 0 ? 0 : this.#now() - this.#since;
    return Math.max(0, this.#leftMs - spent);
  }

  expired(): boolean {
    return this.remainingMs() === 0;
  }

  /** Calls `onOver` once when the time is over; `end` cancels that. */
  start(onOver: () => void): void {
    this.#onOver = onOver;
    this.#arm();
  }

  /** Pauses the clock until the returned function is called. With several pauses, the clock continues after the last. */
  pause(): () => void {
    if (this.#pauses === 0) {
      clearTimeout(this.#timer);
      this.#leftMs = this.remainingMs();
    }
    this.#pauses += 1;
    let paused = true;
    return () => {
      if (!paused) return;
      paused = false;
      this.#pauses -= 1;
      if (this.#pauses > 0) return;
      this.#since = this.#now();
      this.#arm();
    };
  }

  end(): void {
    clearTimeout(this.#timer);
    this.#onOver = undefined;
  }

  #arm(): void {
    const ms = this.remainingMs();
    if (!this.#onOver || this.#pauses > 0 || ms === Number.POSITIVE_INFINITY) return;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#look(), Math.min(Math.ceil(ms), TIMER_MAX_MS));
  }

  /** Checks the clock again, because timers fire slightly early and are shorter than some calls. */
  #look(): void {
    if (this.expired()) this.#onOver?.();
    else this.#arm();
  }
}
