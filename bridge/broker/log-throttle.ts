/** A peer that sends rubbish without end must not fill the disk: each kind of complaint once a minute. */
const REPEAT_AFTER_MS = 60_000;
const KEYS_MAX = 2_000;

/** Tells for each key whether it is time to speak (again). */
export class LogThrottle {
  readonly #spokenAt = new Map<string, number>();
  readonly #now: () => number;

  /** `now`: monotonic ms. */
  constructor(now: () => number) {
    this.#now = now;
  }

  due(key: string): boolean {
    const now = this.#now();
    const last = this.#spokenAt.get(key);
    if (last !== undefined && now - last < REPEAT_AFTER_MS) return false;
    // Deleting first moves the key to the end, so that the oldest is the one to go.
    this.#spokenAt.delete(key);
    this.#spokenAt.set(key, now);
    if (this.#spokenAt.size > KEYS_MAX) {
      for (const oldest of this.#spokenAt.keys()) {
        this.#spokenAt.delete(oldest);
        break;
      }
    }
    return true;
  }
}
