/** Tells a message from its repetition, by its counter: what was taken once is known, what is too old is refused. */

/** So many of the newest are told apart one by one; a sender has far fewer under way at once. */
export const WINDOW = 4_096;

export type Freshness =
  | "fresh"
  /** Taken before. */
  | "repeat"
  /** Older than the window reaches back: whether it was taken is not known any more. */
  | "old";

/**
 * A window over counters that rise, but may arrive out of order. In memory alone: what is said to one run of a
 * program, or by it, is bound to that run by its `boot_id`.
 */
export class ReplayWindow {
  readonly #size: number;
  /** In the order in which they were taken, which is nearly that of their counters. */
  readonly #taken = new Map<string, number>();
  #floor: number;

  /** @param floor this and everything below it is old */
  constructor(floor = -1, size = WINDOW) {
    this.#floor = floor;
    this.#size = size;
  }

  /** @param id tells apart what has the same counter, after its sender lost its place */
  take(n: number, id = ""): Freshness {
    const key = `${n}/${id}`;
    if (this.#taken.has(key)) return "repeat";
    if (n <= this.#floor) return "old";
    this.#taken.set(key, n);
    if (this.#taken.size > this.#size) this.#forgetOldest();
    return "fresh";
  }

  /** From here on everything up to `n` is old. */
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
