/** Lets `size` users in at once. The others wait for their turn, in order. */
export class Semaphore {
  #free: number;
  readonly #waiting: Array<() => void> = [];

  constructor(size: number) {
    this.#free = size;
  }

  /** The number of users that wait. */
  get waiting(): number {
    return this.#waiting.length;
  }

  /**
   * Waits for a place.
   * @returns a function that gives the place back; further calls of it do nothing
   * @throws the signal's reason, when it is aborted first
   */
  async take(signal: AbortSignal): Promise<() => void> {
    signal.throwIfAborted();
    if (this.#free > 0) this.#free -= 1;
    else await this.#turn(signal);
    let isHeld = true;
    return () => {
      if (!isHeld) return;
      isHeld = false;
      const next = this.#waiting.shift();
      if (next) next();
      else this.#free += 1;
    };
  }

  #turn(signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const mine = () => {
        signal.removeEventListener("abort", aborted);
        resolve();
      };
      const aborted = () => {
        const index = this.#waiting.indexOf(mine);
        if (index >= 0) this.#waiting.splice(index, 1);
        reject(signal.reason);
      };
      signal.addEventListener("abort", aborted, { once: true });
      this.#waiting.push(mine);
    });
  }
}
