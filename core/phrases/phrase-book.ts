/** The languages that a program has read so far. How it reads one (a module, an asset, a file) is its own affair. */
import type { Language } from "../text/languages.ts";
import type { PhraseData } from "./languages/phrase-data.ts";
import { ENGLISH, Phrases } from "./phrases.ts";

export class PhraseBook {
  readonly #read = new Map<Language, Phrases>([["en", ENGLISH]]);

  /**
   * Reads the language once. One that cannot be read now is tried again the next time.
   * @param load of the language's file; undefined: it is not there
   */
  async load(
    language: Language,
    load: (language: Language) => Promise<PhraseData | undefined>,
  ): Promise<Phrases> {
    const known = this.#read.get(language);
    if (known) return known;
    const data = await load(language);
    if (!data) return ENGLISH;
    const phrases = new Phrases(data);
    this.#read.set(language, phrases);
    return phrases;
  }

  /** The language, as far as it was read; else English. */
  of(language: Language | undefined): Phrases {
    return this.#read.get(language ?? "en") ?? ENGLISH;
  }
}
