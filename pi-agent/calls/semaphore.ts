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
  async acquire(signal: AbortSignal): Promise<() => void> {
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

/** A place that its holder may leave for a while. Several parts of the holder's work may leave it at once. */
export class HeldPlace {
  readonly #of: Semaphore;
  readonly #signal: AbortSignal;
  #release: () => void;
  #away = 0;

  private constructor(of: Semaphore, signal: AbortSignal, release: () => void) {
    this.#of = of;
    this.#signal = signal;
    this.#release = release;
  }

  /** @throws the signal's reason, when it is aborted first */
  static async acquire(of: Semaphore, signal: AbortSignal): Promise<HeldPlace> {
    return new HeldPlace(of, signal, await of.acquire(signal));
  }

  /** @returns a function that waits for a place again. It throws as `acquire` does */
  leave(): () => Promise<void> {
    this.#away += 1;
    this.#release();
    return async () => {
      this.#away -= 1;
      if (this.#away > 0) return;
      const release = await this.#of.acquire(this.#signal);
      // Another part left it while this one waited.
      if (this.#away > 0) release();
      else this.#release = release;
    };
  }

  /** Its holder has ended. */
  end(): void {
    this.#release();
  }
}
