/** Lists of who has a word. Pure. */

/** Word → entries; an entry is the number of its owner × 2^bits, with that many bits for the caller. */
export class Postings {
  readonly #lists = new Map<string, number[]>();
  readonly #bits: number;

  constructor(bits: number) {
    this.#bits = bits;
  }

  /** The number of words. */
  get size(): number {
    return this.#lists.size;
  }

  get(term: string): readonly number[] {
    return this.#lists.get(term) ?? [];
  }

  has(term: string): boolean {
    return this.#lists.has(term);
  }

  terms(): Iterable<string> {
    return this.#lists.keys();
  }

  add(term: string, owner: number, flags: number): void {
    const entry = (owner << this.#bits) | flags;
    const list = this.#lists.get(term);
    if (list) list.push(entry);
    else this.#lists.set(term, [entry]);
  }

  /** The order of a list means nothing, so its last entry takes the place. */
  remove(term: string, owner: number): void {
    const list = this.#lists.get(term);
    const place = list?.findIndex((entry) => entry >> this.#bits === owner) ?? -1;
    if (!list || place < 0) return;
    const last = list.pop();
    if (list.length === 0) this.#lists.delete(term);
    else if (last !== undefined && place < list.length) list[place] = last;
  }
}
