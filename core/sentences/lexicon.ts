/** A language's words, ready to be looked up. Pure. */
import type { Language } from "../text/languages.ts";
import { type CompiledLanguage, compileLanguage } from "./compile.ts";
import { expandPattern, type LanguageData } from "./language.ts";
import { meaningOf, roleKeys } from "./role-keys.ts";
import type { Meaning } from "./roles.ts";

export type Lexicon = {
  language: Language;
  phrases: PhraseTable;
  /** Words of the longest phrase. */
  longest: number;
  /** Single words, for "Did you mean …?". */
  vocabulary(): Iterable<string>;
  /** Letters between the parts of a compound. Undefined: the language writes none. */
  links: readonly string[] | undefined;
  endings: readonly string[];
  hasCases: boolean;
};

/** @throws Error at a row whose role or value does not exist; the tests load each language */
export function makeLexicon(data: LanguageData): Lexicon {
  return lexiconFrom(compileLanguage(data));
}

/** A cold start waits for it: a phrase is a word in a map, and what it means is made when a sentence has it. */
export function lexiconFrom(compiled: CompiledLanguage): Lexicon {
  const phrases = new PhraseTable(compiled);
  return {
    language: compiled.code,
    phrases,
    longest: compiled.longest,
    *vocabulary() {
      for (const key of phrases.keys()) yield* key.split(" ");
    },
    links: compiled.links,
    endings: compiled.endings,
    hasCases: compiled.hasCases,
  };
}

/** By phrase: each way to read it, as the roles that it plays. */
class PhraseTable {
  /** The places of its rows. */
  readonly #rows = new Map<string, number | number[]>();
  readonly #keys: readonly string[];
  readonly #meanings: Array<readonly Meaning[]> = [];

  constructor({ rows, several, numbers }: CompiledLanguage) {
    const others = Object.entries(several);
    const keys = roleKeys();
    this.#keys = [...keys, ...others.map(([key]) => key)];
    for (let at = 0; at < rows.length; at += 1) this.#addRow(at, rows[at] ?? "");
    for (let at = 0; at < others.length; at += 1) this.#addRow(keys.length + at, others[at]?.[1] ?? "");
    for (let number = 0; number < numbers.length; number += 1)
      for (const form of (numbers[number] ?? "").split("|")) this.#add(form, this.#keys.length + number);
  }

  /** @returns undefined: the language has no such phrase */
  get(key: string): ReadonlyArray<readonly Meaning[]> | undefined {
    const rows = this.#rows.get(key);
    if (rows === undefined) return undefined;
    return typeof rows === "number" ? [this.#meaning(rows)] : rows.map((row) => this.#meaning(row));
  }

  keys(): Iterable<string> {
    return this.#rows.keys();
  }

  #addRow(at: number, row: string): void {
    if (row === "") return;
    const phrases = row.split(",");
    const mayChoose = row.includes("(") || row.includes("[");
    for (let one = 0; one < phrases.length; one += 1) {
      const phrase = phrases[one] ?? "";
      if (mayChoose) for (const written of expandPattern(phrase)) this.#add(written, at);
      else this.#add(phrase, at);
    }
  }

  #add(phrase: string, row: number): void {
    const known = this.#rows.get(phrase);
    if (known === undefined) this.#rows.set(phrase, row);
    else if (typeof known === "number") this.#rows.set(phrase, [known, row]);
    else known.push(row);
  }

  /** One object for all phrases of a row. */
  #meaning(row: number): readonly Meaning[] {
    const known = this.#meanings[row];
    if (known) return known;
    const number = row - this.#keys.length;
    const meaning: readonly Meaning[] =
      number >= 0
        ? [{ role: "number", value: { number, small: number < 2 } }]
        : (this.#keys[row] ?? "").split(" ").map(meaningOf);
    this.#meanings[row] = meaning;
    return meaning;
  }
}
