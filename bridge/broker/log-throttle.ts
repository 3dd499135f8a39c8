/** A peer that sends rubbish without end must not fill the disk, so each kind of complaint is logged once a minute. */
const REPEAT_AFTER_MS = 60_000;
const KEYS_MAX = 2_000;

/** Decides for each key whether it is logged again. */
export class LogThrottle {
  readonly #loggedAt = new Map<string, number>();
  readonly #now: () => number;

  /** @param now monotonic ms */
  constructor(now: () => number) {
    this.#now = now;
  }

  due(key: string): boolean {
    const now = this.#now();
    const last = this.#loggedAt.get(key);
    if (last !== undefined && now - last < REPEAT_AFTER_MS) return false;
    // Deleting first moves the key to the end, so that the first key is the oldest.
    this.#loggedAt.delete(key);
    this.#loggedAt.set(key, now);
    if (this.#loggedAt.size > KEYS_MAX) {
      for (const oldest of this.#loggedAt.keys()) {
        this.#loggedAt.delete(oldest);
        break;
      }
    }
    return true;
  }
}
