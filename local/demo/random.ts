/** Numbers by chance that are the same for the same seed. */
export class SeededRandom {
  #state: number;

  /** @param seed a whole number */
  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  /** A number from 0 up to 1 (mulberry32). */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  }

  /** A whole number of `from` to `to`, both included. */
  whole(from: number, to: number): number {
    return from + Math.floor(this.next() * (to - from + 1));
  }

  /** How long until something that comes each `mean` on average. At least 1. */
  wait(mean: number): number {
    return Math.max(1, Math.round(-Math.log(1 - this.next()) * mean));
  }

  /** A small deviation, of -`by` to `by`. */
  around(by: number): number {
    return (this.next() * 2 - 1) * by;
  }
}
