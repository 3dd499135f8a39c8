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
  /** By first word: patterns of which no sentence had that word yet. */
  readonly #patterns = new Map<string, Pattern[]>();
  readonly #keys: readonly string[];
  readonly #meanings: Array<readonly Meaning[]> = [];
  /** Of phrases that several rows have. */
  readonly #several = new Map<string, ReadonlyArray<readonly Meaning[]>>();

  constructor({ rows, several, numbers }: CompiledLanguage) {
    this.#keys = [...roleKeys(), ...Object.keys(several)];
    const places = { rows: this.#rows, patterns: this.#patterns };
    addRows(places, rows, 0);
    addRows(places, Object.values(several), rows.length);
    for (let number = 0; number < numbers.length; number += 1)
      for (const form of (numbers[number] ?? "").split("|"))
        addRow(this.#rows, form, this.#keys.length + number);
  }

  /** @returns undefined: the language has no such phrase */
  get(key: string): ReadonlyArray<readonly Meaning[]> | undefined {
    const blank = key.indexOf(" ");
    if (blank > 0) this.#writeOut(key.slice(0, blank));
    const rows = this.#rows.get(key);
    if (rows === undefined) return undefined;
    if (typeof rows === "number") return [this.#meaning(rows)];
    const known = this.#several.get(key);
    if (known) return known;
    const ways = markVerbs(rows.map((row) => this.#meaning(row)));
    this.#several.set(key, ways);
    return ways;
  }

  /** All phrases, also those of patterns. */
  keys(): Iterable<string> {
    for (const word of [...this.#patterns.keys()]) this.#writeOut(word);
    return this.#rows.keys();
  }

  #writeOut(firstWord: string): void {
    const patterns = this.#patterns.get(firstWord);
    if (patterns === undefined) return;
    this.#patterns.delete(firstWord);
    for (const { pattern, row } of patterns)
      for (const phrase of expandPattern(pattern)) addRow(this.#rows, phrase, row);
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

/** A word that is also an act by itself marks its type as a verb: "fan", "light". */
function markVerbs(ways: ReadonlyArray<readonly Meaning[]>): ReadonlyArray<readonly Meaning[]> {
  if (!ways.some(([first, second]) => first?.role === "act" && !second)) return ways;
  return ways.map((way) =>
    way.map(
      (one): Meaning => (one.role === "type" ? { ...one, value: { ...one.value, isVerb: true } } : one),
    ),
  );
}

type Pattern = { pattern: string; row: number };
type Places = { rows: Map<string, number | number[]>; patterns: Map<string, Pattern[]> };

// Plain loops without private members: this runs before V8 compiles anything.

function addRows({ rows: places, patterns }: Places, rows: readonly string[], first: number): void {
  for (let at = 0; at < rows.length; at += 1) {
    const text = rows[at];
    if (text === undefined || text === "") continue;
    const row = first + at;
    const phrases = text.split(",");
    const mayChoose = text.includes("(") || text.includes("[");
    for (let one = 0; one < phrases.length; one += 1) {
      const phrase = phrases[one] ?? "";
      if (mayChoose && (phrase.includes("(") || phrase.includes("[")))
        addPattern({ rows: places, patterns }, phrase, row);
      else addRow(places, phrase, row);
    }
  }
}

/** A product of many choices is written out only for the first words that sentences have. */
function addPattern({ rows: places, patterns }: Places, pattern: string, row: number): void {
  for (const begun of expandPattern(pattern, true)) {
    if (!begun.includes("(") && !begun.includes("[")) {
      addRow(places, begun, row);
      continue;
    }
    const firstWord = begun.slice(0, begun.indexOf(" "));
    const known = patterns.get(firstWord);
    if (known) known.push({ pattern: begun, row });
    else patterns.set(firstWord, [{ pattern: begun, row }]);
  }
}

function addRow(places: Map<string, number | number[]>, phrase: string, row: number): void {
  const known = places.get(phrase);
  if (known === undefined) places.set(phrase, row);
  // Two patterns of a row may say the same.
  else if (typeof known === "number") {
    if (known !== row) places.set(phrase, known < row ? [known, row] : [row, known]);
  } else if (!known.includes(row)) known.splice(known.filter((one) => one < row).length, 0, row);
}
