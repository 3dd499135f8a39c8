/**
 * Notices that this process did not run for a while: SIGSTOP, a suspended laptop, a full SD card, an overloaded Pi.
 *
 * After a stall the sockets hold messages that came at any moment of it, and libuv may deliver them before it runs timers.
 * So a message that is read then may be as old as the stall, and a peer may look silent while its messages are unread.
 */
export type StallOptions = {
  /**
   * Messages that are read this soon after a stall may have come during it. The bridge uses one second, its tick: a caller
   * still waits for an answer then. The agent uses two: a late command must not run.
   */
  afterMs: number;
  /** Monotonic ms. */
  now?: () => number;
};

/** The interval at which the event loop looks at the clock. */
export const TICK_MS = 1_000;
/** A tick this late shows a stall and not just a busy moment. */
const STALL_MS = 2_000;

export class StallDetector {
  readonly #afterMs: number;
  readonly #now: () => number;
  #lastLook: number;
  #stall = { ms: 0, endedAt: Number.NEGATIVE_INFINITY };
  #isTickLate = false;
  #timer: ReturnType<typeof setInterval> | undefined;

  constructor({ afterMs, now = () => performance.now() }: StallOptions) {
    this.#afterMs = afterMs;
    this.#now = now;
    this.#lastLook = now();
  }

  /** Starts a timer that ticks, for a program that has no tick of its own. */
  start(): void {
    this.#lastLook = this.#now();
    this.#timer ??= setInterval(() => this.tick(), TICK_MS);
    this.#timer.unref();
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  /** Call it every TICK_MS. @returns false after a stall: the caller should then wait for the next tick before it judges silence */
  tick(): boolean {
    this.#look();
    const isLate = this.#isTickLate;
    this.#isTickLate = false;
    return !isLate;
  }

  /** @returns the highest possible age of a message that is read now, in ms, beyond its time on the network */
  unknownAgeMs(): number {
    return this.#isAfterStall(this.#look()) ? this.#stall.ms : 0;
  }

  /** @returns the earliest moment (monotonic ms) at which a message that is read now may have arrived */
  arrival(): number {
    const now = this.#look();
    return this.#isAfterStall(now) ? this.#stall.endedAt - this.#stall.ms : now;
  }

  #isAfterStall(now: number): boolean {
    return now - this.#stall.endedAt < this.#afterMs;
  }

  #look(): number {
    const now = this.#now();
    const gap = now - this.#lastLook;
    if (gap > STALL_MS) {
      // Stalls in quick succession add up: a message may have waited through all of them.
      const before = this.#isAfterStall(this.#lastLook) ? this.#stall.ms : 0;
      this.#stall = { ms: gap + before, endedAt: now };
      this.#isTickLate = true;
    }
    this.#lastLook = now;
    return now;
  }
}
