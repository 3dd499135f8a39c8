/** Recognises repeated messages by their counter, and refuses those that are too old to tell. */

/** How many of the newest counters are remembered; a sender has far fewer messages under way. */
const WINDOW = 4_096;

export type Freshness =
  | "fresh"
  /** Taken before. */
  | "repeat"
  /** Older than the window, so it is not known whether it was taken. */
  | "old";

/**
 * A window over counters that rise but may arrive out of order. It needs no storage: messages to or from a program are
 * bound to its present run by `boot_id`.
 */
export class ReplayWindow {
  readonly #size: number;
  /** Taken counters in the order of arrival, which is almost that of the counters. */
  readonly #taken = new Map<string, number>();
  #floor: number;

  /** @param floor counters up to and including this one are old */
  constructor(floor = -1, size = WINDOW) {
    this.#floor = floor;
    this.#size = size;
  }

  /** @param id distinguishes messages with the same counter, after their sender lost its count */
  accept(n: number, id = ""): Freshness {
    const key = `${n}/${id}`;
    if (this.#taken.has(key)) return "repeat";
    if (n <= this.#floor) return "old";
    this.#taken.set(key, n);
    if (this.#taken.size > this.#size) this.#forgetOldest();
    return "fresh";
  }

  /** Treats all counters up to `n` as old from now on. */
  raise(n: number): void {
    this.#floor = Math.max(this.#floor, n);
  }

  #forgetOldest(): void {
    for (const [key, n] of this.#taken) {
      this.#taken.delete(key);
      this.raise(n);
      return;
    }
  }
}
