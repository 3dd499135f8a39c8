/** The areas that publishers and persons named, and which of them a question names. Pure. */
import { type Concept, SAME_WORD } from "./concepts.ts";
import { askedText, stem } from "./words.ts";

export class NamedAreas {
  readonly #areas = new Map<string, { stems: readonly string[]; users: number }>();

  add(area: string): void {
    const known = this.#areas.get(area) ?? { stems: askedText(area).map(stem), users: 0 };
    known.users += 1;
    this.#areas.set(area, known);
  }

  remove(area: string): void {
    const known = this.#areas.get(area);
    if (!known) return;
    known.users -= 1;
    if (known.users === 0) this.#areas.delete(area);
  }

  /**
   * The areas of which a question has all words, the longest alone: "guest bathroom" is no bathroom. Where none has the question's own
   * words, those that mean the same: Küche for kitchen.
   */
  named(concepts: readonly Pick<Concept, "variants">[]): ReadonlySet<string> {
    const variants = concepts.flatMap((concept) => concept.variants);
    const own = variants.filter(({ worth }) => worth >= SAME_WORD).map(({ term }) => term);
    const found = this.#having(new Set(own));
    if (found.size > 0) return found;
    return this.#having(new Set(variants.map(({ term }) => term)), new Set(own));
  }

  /** The areas whose words are all among the terms: of these those that have the most of the question's own, and of these the longest. */
  #having(terms: ReadonlySet<string>, own: ReadonlySet<string> = terms): Set<string> {
    let found: string[] = [];
    let best = 0;
    for (const [area, { stems }] of this.#areas) {
      if (stems.length === 0 || !stems.every((one) => terms.has(one))) continue;
      const rank = 1_000 * stems.filter((one) => own.has(one)).length + stems.length;
      if (rank > best) found = [];
      if (rank >= best) found.push(area);
      best = Math.max(best, rank);
    }
    return new Set(found);
  }
}
