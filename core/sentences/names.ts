/** The names of a home, by what a sentence may call them. Ten thousand cost a map of them. Pure. */
import type { Meaning, Named } from "./roles.ts";
import { keyOf } from "./words.ts";

export type NamedThing = {
  id: string;
  name: string;
  of: "device" | "area" | "floor" | "rule";
  /** A person gave it. Others are a publisher's, which may be chosen badly. */
  own?: boolean;
  /** The id of a device's area. */
  area?: string;
};

const NAME_MAX = 60;
/** Words of a name that are compared. */
const WORDS_MAX = 12;
/** Ids of one name that are kept: with so many a person is asked anyway. */
const IDS_MAX = 50;
/** Words of one beginning that are looked through for another case. */
const FORMS_MAX = 300;
const BEGINNING = 3;

// biome-ignore lint/suspicious/noControlCharactersInRegex: names with them are left out.
const CONTROL = /[\u0000-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u2069]/;

type Entry = NamedThing[];

export class NameTable {
  /** Words of the longest name. */
  readonly longest: number;
  readonly #entries = new Map<string, Entry>();
  #words: Set<string> | undefined;
  #byBeginning: Map<string, string[]> | undefined;

  constructor(things: Iterable<NamedThing>) {
    // Of a cold start, as that of lexicon.ts.
    const entries = this.#entries;
    let longest = 1;
    for (const thing of things) {
      if (thing.name.length > NAME_MAX || CONTROL.test(thing.name)) continue;
      const key = keyOf(thing.name);
      if (key === "") continue;
      let words = 1;
      for (let at = key.indexOf(" "); at >= 0; at = key.indexOf(" ", at + 1)) words += 1;
      if (words > WORDS_MAX) continue;
      if (words > longest) longest = words;
      const entry = entries.get(key);
      if (entry === undefined) entries.set(key, [thing]);
      else if (entry.length < IDS_MAX) entry.push(thing);
    }
    this.longest = longest;
  }

  /** @returns one meaning for each sort of thing that has the name */
  get(key: string): Meaning[] {
    const entry = this.#entries.get(key);
    if (entry === undefined) return [];
    return [
      ...meaning("name", ofSort(entry, "device")),
      ...meaning("area", ofSort(entry, "area")),
      ...meaning("floor", ofSort(entry, "floor")),
      ...meaning("rule_name", ofSort(entry, "rule")),
    ];
  }

  has(key: string): boolean {
    return this.#entries.has(key);
  }

  /** Single words of all names. */
  words(): ReadonlySet<string> {
    if (this.#words) return this.#words;
    this.#words = new Set();
    for (const key of this.#entries.keys()) for (const word of key.split(" ")) this.#words.add(word);
    return this.#words;
  }

  /**
   * Words of names of which this may be another case: a common beginning of at least 3 letters, all but 2 of the name's, and at most 3 more.
   * @returns none where too many words begin so
   */
  formsOf(word: string): string[] {
    if (word.length < BEGINNING) return [];
    this.#byBeginning ??= Map.groupBy(this.words(), (known) => known.slice(0, BEGINNING));
    const known = this.#byBeginning.get(word.slice(0, BEGINNING)) ?? [];
    return known.length > FORMS_MAX ? [] : known.filter((base) => isForm(word, base));
  }
}

function isForm(word: string, base: string): boolean {
  if (base.length < BEGINNING || word === base) return false;
  let shared = 0;
  while (shared < base.length && base[shared] === word[shared]) shared += 1;
  return shared >= BEGINNING && shared >= base.length - 2 && word.length - shared <= 3;
}

function ofSort(entry: Entry, sort: NamedThing["of"]): Entry {
  return entry.filter((thing) => thing.of === sort);
}

function meaning(role: "name" | "area" | "floor" | "rule_name", things: Entry): Meaning[] {
  const [first] = things;
  if (first === undefined) return [];
  const value: Named = {
    name: first.name,
    ids: things.map(({ id }) => id),
    own: things.some(({ own }) => own === true),
    areas: things.map(({ area }) => area),
  };
  return [{ role, value }];
}
