/** A language's words, ready to be looked up. Pure. */
import type { Language } from "../text/languages.ts";
import { type CompiledLanguage, compileLanguage } from "./compile.ts";
import type { Examples } from "./examples.ts";
import { beginningsOf, expandPattern, type LanguageData, type NumberWords, numberForms } from "./language.ts";
import { meaningsOf, roleKeyAt } from "./role-keys.ts";
import type { Meaning } from "./roles.ts";
import { keyOf } from "./words.ts";

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
  /** Sentences to offer. */
  examples: Examples;
};

/** @throws Error at a row whose role or value does not exist; the tests load each language */
export function makeLexicon(data: LanguageData): Lexicon {
  return lexiconFrom(compileLanguage(data));
}

/** Nothing is made before a sentence asks for it: a cold start waits for this. */
export function lexiconFrom(compiled: CompiledLanguage): Lexicon {
  const phrases = new PhraseTable(compiled);
  return {
    language: compiled.code,
    phrases,
    longest: compiled.longest,
    vocabulary: () => phrases.words(),
    links: compiled.links,
    endings: compiled.endings,
    hasCases: compiled.hasCases,
    examples: compiled.examples,
  };
}

type Ways = ReadonlyArray<readonly Meaning[]>;

/** Words without a phrase that are remembered: a person may type any word. */
const UNKNOWN_MAX = 1_000;

/** By phrase: each way to read it, as the roles that it plays. Phrases are looked up in the file's text by their first words. */
class PhraseTable {
  readonly #text: string;
  readonly #several: string;
  readonly #numbers: NumberWords;
  /** Of words that sentences had: what begins with them. */
  readonly #byWord = new Map<string, Beginnings>();
  readonly #unknown = new Set<string>();
  /** Of phrases that sentences had. */
  readonly #ways = new Map<string, Ways>();
  /** Of lines that sentences had: their roles. */
  readonly #lines: Array<readonly Meaning[]> = [];
  #forms: Map<string, number> | undefined;
  #words: readonly string[] | undefined;

  constructor({ rows, several, numbers }: CompiledLanguage) {
    this.#text = rows;
    this.#several = several;
    this.#numbers = numbers;
  }

  /** @returns undefined: the language has no such phrase */
  get(key: string): Ways | undefined {
    const known = this.#ways.get(key);
    if (known) return known;
    const blank = key.indexOf(" ");
    const beginnings = this.#beginningsOf(blank < 0 ? key : key.slice(0, blank));
    if (beginnings === undefined) return undefined;
    const found = new Set<readonly Meaning[]>();
    for (const place of beginnings.phrases.get(key) ?? []) found.add(this.#meaningsAt(place));
    for (const { pattern, place } of beginnings.patterns)
      if (matches(pattern, key)) found.add(this.#meaningsAt(place));
    if (found.size === 0) return undefined;
    const ways = markVerbs([...found]);
    this.#ways.set(key, ways);
    return ways;
  }

  /** All phrases, each once. */
  keys(): string[] {
    const found = new Set<string>(this.#numberForms().keys());
    for (const line of this.#text.split("\n"))
      for (const pattern of line.split(",")) for (const phrase of expandPattern(pattern)) found.add(phrase);
    found.delete("");
    return [...found];
  }

  words(): readonly string[] {
    this.#words ??= [...new Set(this.keys().flatMap((key) => key.split(" ")))];
    return this.#words;
  }

  #beginningsOf(word: string): Beginnings | undefined {
    const known = this.#byWord.get(word);
    if (known || word === "" || this.#unknown.has(word)) return known;
    const found: Beginnings = { phrases: new Map(), patterns: [] };
    for (const beginning of beginningsOf(word)) addBeginnings(this.#text, word, beginning, found);
    if (this.#forms !== undefined || this.#mayCount(word))
      for (const [form, number] of this.#numberForms())
        if (form.startsWith(word)) addPlace(found.phrases, form, -1 - number);
    const isKnown = found.phrases.size > 0 || found.patterns.length > 0;
    if (isKnown) {
      this.#byWord.set(word, found);
      return found;
    }
    // Without this a full set would remember old words for ever, and each new one would search the text each time.
    if (this.#unknown.size >= UNKNOWN_MAX) this.#unknown.clear();
    this.#unknown.add(word);
    return undefined;
  }

  /** A form begins with a small number, a ten, the hundred, or is one of its own. */
  #mayCount(word: string): boolean {
    const { small, tens, hundred, more } = this.#numbers;
    const forms = `,${[small, tens, hundred, ...Object.values(more ?? {})].join().replaceAll("|", ",")},`;
    const beginning = beginningsOf(word)[0] ?? "";
    for (let at = forms.indexOf(beginning); at >= 0; at = forms.indexOf(beginning, at + 1)) {
      const form = forms.slice(at + 1, forms.indexOf(",", at + 1));
      if (word.startsWith(form.split(" ")[0] ?? "")) return true;
    }
    return false;
  }

  #numberForms(): Map<string, number> {
    // Two forms may be one without their marks.
    this.#forms ??= new Map(numberForms(this.#numbers).map(([form, number]) => [keyOf(form), number]));
    return this.#forms;
  }

  /** One object for all phrases of a line. @param place of a pattern; below 0 it is a number */
  #meaningsAt(place: number): readonly Meaning[] {
    if (place < 0) {
      const number = -1 - place;
      return [{ role: "number", value: { number, small: number < 2 } }];
    }
    const line = this.#text.slice(0, place).split("\n").length - 1;
    const known = this.#lines[line];
    if (known) return known;
    const key = roleKeyAt(line);
    const meanings =
      typeof key === "string"
        ? meaningsOf(key, false)
        : meaningsOf(this.#several.split(",")[key.beyond] ?? "", true);
    this.#lines[line] = meanings;
    return meanings;
  }
}

/** Places are those of commas in the text; below 0 they are numbers. */
type Beginnings = { phrases: Map<string, number[]>; patterns: Array<{ pattern: string; place: number }> };

function addPlace(phrases: Map<string, number[]>, phrase: string, place: number): void {
  const places = phrases.get(phrase);
  if (places === undefined) phrases.set(phrase, [place]);
  else places.push(place);
}

/** Adds the phrases and patterns in which the word, or letters of it, stand first and behind the sign of `beginning`. */
function addBeginnings(text: string, word: string, beginning: string, found: Beginnings): void {
  for (let at = text.indexOf(beginning); at >= 0; at = text.indexOf(beginning, at + 1)) {
    if (!mayStandAt(text, at + 1, word)) continue;
    const place = text.lastIndexOf(",", at);
    // A word behind the pattern's first one.
    if (place < at && !isChoice(text.charAt(place + 1))) continue;
    const pattern = text.slice(place + 1, text.indexOf(",", place + 1));
    if (pattern.includes("(") || pattern.includes("[")) found.patterns.push({ pattern, place });
    else addPlace(found.phrases, pattern, place);
  }
}

/** Tells whether the key is one of the pattern's phrases, from these places on. */
function matches(pattern: string, key: string, from = 0, at = 0): boolean {
  let sign = pattern.charAt(from);
  while (!isChoice(sign)) {
    if (sign !== key.charAt(at)) return false;
    if (sign === "") return true;
    from += 1;
    at += 1;
    sign = pattern.charAt(from);
  }
  const end = pattern.indexOf(sign === "(" ? ")" : "]", from);
  if (sign === "[" && matches(pattern, key, end + 1, at)) return true;
  for (const choice of pattern.slice(from + 1, end).split("|"))
    if (key.startsWith(choice, at) && matches(pattern, key, end + 1, at + choice.length)) return true;
  return false;
}

/** Tells whether the word stands there, or its letters up to a choice. */
function mayStandAt(text: string, from: number, word: string): boolean {
  for (let at = 0; at <= word.length; at += 1) {
    const sign = text.charAt(from + at);
    if (SIGNS.includes(sign)) return true;
    if (at === word.length) return sign === " " || sign === ",";
    if (sign !== word.charAt(at)) return false;
  }
  return false;
}

const SIGNS = "()[]|";

function isChoice(sign: string): boolean {
  return sign === "(" || sign === "[";
}

/** A word that is also an act by itself marks its type as a verb: "fan", "light". */
function markVerbs(ways: Ways): Ways {
  if (!ways.some(([first, second]) => first?.role === "act" && !second)) return ways;
  return ways.map((way) =>
    way.map(
      (one): Meaning => (one.role === "type" ? { ...one, value: { ...one.value, isVerb: true } } : one),
    ),
  );
}
