/**
 * The locks of one device, which decide which calls may run.
 *
 * Calls are served in order. Calls with the same key run one after another. A call that runs alone waits for those before it
 * and blocks those behind it, so no call starves. A call may overtake a waiting one only when they share no lock.
 */

export type LockNeed = {
  /** No other call runs at the same time. */
  alone: boolean;
  /** Calls with the same key run one after another. A key is a canonical path, a pin or a bus. */
  key?: string;
};

type Waiting = { need: LockNeed; start(): void };

/** The lock state of one device. Never nest: work that asks for another lock here may wait for itself. */
export class Locks {
  #waiting: Waiting[] = [];
  readonly #keys = new Set<string>();
  #running = 0;
  #aloneRuns = false;

  /**
   * Runs `work` when its locks are free, and releases them when its promise settles.
   * @param signal limits only the wait; after the start `work` handles an abort itself
   * @throws the signal's reason when it is aborted before the start, in which case `work` is not called; any error of `work`
   */
  async run<T>(need: LockNeed, signal: AbortSignal | undefined, work: () => Promise<T>): Promise<T> {
    signal?.throwIfAborted();
    await this.#turn(need, signal);
    try {
      // Other code may have run since the lock was granted.
      signal?.throwIfAborted();
      return await work();
    } finally {
      this.#release(need);
    }
  }

  #turn(need: LockNeed, signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      const mine: Waiting = {
        need,
        start: () => {
          signal?.removeEventListener("abort", aborted);
          resolve();
        },
      };
      const aborted = () => {
        this.#waiting = this.#waiting.filter((other) => other !== mine);
        reject(signal?.reason);
        // It may have blocked the calls behind it.
        this.#startNext();
      };
      signal?.addEventListener("abort", aborted, { once: true });
      this.#waiting.push(mine);
      this.#startNext();
    });
  }

  #startNext(): void {
    const staying: Waiting[] = [];
    let barred = false;
    for (const waiting of this.#waiting) {
      if (barred || !this.#free(waiting.need)) {
        staying.push(waiting);
        barred ||= waiting.need.alone;
        continue;
      }
      this.#hold(waiting.need);
      waiting.start();
    }
    this.#waiting = staying;
  }

  /** Waiting calls with the same key need no check: they wait because the key is held. */
  #free({ alone, key }: LockNeed): boolean {
    if (this.#aloneRuns) return false;
    if (alone) return this.#running === 0;
    return key === undefined || !this.#keys.has(key);
  }

  #hold({ alone, key }: LockNeed): void {
    this.#running += 1;
    if (alone) this.#aloneRuns = true;
    if (key !== undefined) this.#keys.add(key);
  }

  #release({ alone, key }: LockNeed): void {
    this.#running -= 1;
    if (alone) this.#aloneRuns = false;
    if (key !== undefined) this.#keys.delete(key);
    this.#startNext();
  }
}
