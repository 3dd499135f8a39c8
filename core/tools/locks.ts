/**
 * Who may run now: the locks of one device.
 *
 * First come, first served: calls with the same key go one after another, and whatever runs alone waits for
 * those before it and holds up those behind it, so nobody starves. A call may pass one that waits only when
 * the two have nothing in common.
 */

export type LockNeed = {
  /** Nothing else runs meanwhile. */
  alone: boolean;
  /** Calls with the same key go one after another: a canonical path, a pin, a bus. */
  key?: string;
};

type Waiting = { need: LockNeed; start(): void };

/** The state of one device. Work that asks the same locks for more would wait for itself: never nest. */
export class Locks {
  #waiting: Waiting[] = [];
  readonly #keys = new Set<string>();
  #running = 0;
  #aloneRuns = false;

  /**
   * Runs `work` when its turn has come, and frees its place when the promise of `work` settles.
   *
   * @param signal bounds the waiting alone; what to do with an abort after the start is up to `work`
   * @throws the signal's reason, when it is aborted before the start: the place in the queue is given up and
   *   `work` is not called; whatever `work` throws
   */
  async run<T>(need: LockNeed, signal: AbortSignal | undefined, work: () => Promise<T>): Promise<T> {
    signal?.throwIfAborted();
    await this.#turn(need, signal);
    try {
      // Between the grant and here other code may have run.
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
        // It may have been what held up those behind it.
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

  /** A waiting call of the same key further ahead needs no look: it waits because its key is held. */
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
