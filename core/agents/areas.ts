/** The areas that publishers and persons named, and which of them a question names. Pure. */
import { type Concept, SAME_WORD } from "./concepts.ts";
import { askedWords, stem } from "./words.ts";

export class NamedAreas {
  readonly #areas = new Map<string, { stems: readonly string[]; users: number }>();

  add(area: string): void {
    const known = this.#areas.get(area) ?? { stems: askedWords(area).map(stem), users: 0 };
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
    return found.size > 0 ? found : this.#having(new Set(variants.map(({ term }) => term)));
  }

  #having(terms: ReadonlySet<string>): Set<string> {
    const found = [...this.#areas].filter(
      ([, { stems }]) => stems.length > 0 && stems.every((one) => terms.has(one)),
    );
    const longest = Math.max(0, ...found.map(([, { stems }]) => stems.length));
    return new Set(found.flatMap(([area, { stems }]) => (stems.length === longest ? area : [])));
  }
}
