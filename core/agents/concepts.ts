/**
 * What a question asks for: each of its words with all that may stand for it among the words that agents have. Synonyms, compounds,
 * parts of compounds, comparatives, ranks, and slips of the pen where nothing else is found. Pure.
 */
import { formsOf } from "./case-forms.ts";
import { nearWords } from "./near-words.ts";
import { synonyms } from "./synonyms.ts";
import { askedText, isUnspaced, numberForms, stem } from "./words.ts";

/** Characters and words of one question that count. */
const ASKED_CHARS_MAX = 1_000;
const ASKED_WORDS_MAX = 32;
/** Words looked through for parts and slips; a home of 10,000 agents has some thousands. */
const LOOKED_THROUGH_MAX = 50_000;

/** What a match is worth by how the word was found. */
const EXACT = 1;
const ADJECTIVE = 0.9;
const OTHER_FORM = 0.85;
const SYNONYM = 0.7;
const TYPO = 0.6;
const PART = 0.45;
/** A second word of the same meaning. */
const SAID_AGAIN = 0.4;

/** Parts of words: garage in garagentor, thermostat in thermostats, fish in goldfish. */
const PART_MIN_LETTERS = 4;
const BEGINNING_MIN_LETTERS = 5;
const HALF_MIN_LETTERS = 3;

/** "home" says where the person lives, and stands in many names for other reasons: Home Connect, home office. */
const WEAK_WORDS: ReadonlyMap<string, number> = new Map([
  ["home", 0.3],
  ["house", 0.3],
  ["where", 0.5],
  ["under", 0.3],
  ["beside", 0.3],
  ["behind", 0.3],
  ["next", 0.3],
]);

/** Stems that agents and their actions have. */
export type Vocabulary = {
  has(term: string): boolean;
  ofAgents(): Iterable<string>;
  ofActions(): Iterable<string>;
};

/** A stem to look up, and what finding it is worth. */
type Variant = { term: string; worth: number };

/** A word of the question. A stem may be there twice; the greater worth counts. */
export type Concept = {
  variants: Variant[];
  weight: number;
  isNumber: boolean;
  /** It means the same as another word, and is there for those who have both. */
  isRepeat: boolean;
};

/** A variant of at least this worth is the word itself, not a synonym. */
export const SAME_WORD = OTHER_FORM;

/** Two neighbours are also one word: house door, haustuer; dish washer. */
export function conceptsOf(question: string, vocabulary: Vocabulary): Concept[] {
  const words = askedText(question.slice(0, ASKED_CHARS_MAX)).slice(0, ASKED_WORDS_MAX);
  const concepts = words.map((word): Concept => {
    const isNumber = /^\d+$/.test(word) || numberForms(word).length > 0;
    return {
      variants: variantsOf(word, vocabulary),
      weight: WEAK_WORDS.get(word) ?? 1,
      isNumber,
      isRepeat: false,
    };
  });
  for (let n = 0; n + 1 < words.length; n += 1) {
    const joined = `${words[n]}${words[n + 1]}`;
    const term = stem(joined);
    if (/\d/.test(joined) || !(vocabulary.has(term) || synonyms().has(term))) continue;
    const variants = variantsOf(joined, vocabulary);
    concepts[n]?.variants.push(...variants);
    concepts[n + 1]?.variants.push(...variants);
  }
  return merged(words, concepts);
}

/** Words of one meaning are one: "I am cold, warm it up" asks for the temperature once. */
function merged(words: readonly string[], concepts: readonly Concept[]): Concept[] {
  const left: Array<{ term: string; concept: Concept }> = [];
  const again: Concept[] = [];
  for (const [n, concept] of concepts.entries()) {
    const term = stem(words[n] ?? "");
    const same = left.find((other) => other.term === term || synonyms().get(other.term)?.has(term));
    if (!same) left.push({ term, concept });
    else {
      same.concept.variants.push(...concept.variants);
      same.concept.weight = Math.max(same.concept.weight, concept.weight);
      // Who has both words themselves fits a little better.
      again.push({
        ...concept,
        variants: [{ term, worth: EXACT }],
        weight: concept.weight * SAID_AGAIN,
        isRepeat: true,
      });
    }
  }
  return [...left.map(({ concept }) => concept), ...again];
}

function variantsOf(word: string, vocabulary: Vocabulary): Variant[] {
  const term = stem(word);
  const worths = new Map<string, number>();
  const add = (variant: string, worth: number): void => {
    if (vocabulary.has(variant)) worths.set(variant, Math.max(worth, worths.get(variant) ?? 0));
  };
  const addWithSynonyms = (variant: string, worth: number): void => {
    add(variant, worth);
    for (const synonym of synonyms().get(variant) ?? []) add(synonym, worth * SYNONYM);
  };
  const isKnown = vocabulary.has(term);
  addWithSynonyms(term, EXACT);
  for (const form of numberForms(word)) add(form, EXACT);
  // windy, foggy
  const noun = /^(.{3,}?)(?:([^aeiou])\2)?y$/.exec(word);
  if (noun) addWithSynonyms(`${noun[1]}${noun[2] ?? ""}`, ADJECTIVE);
  // warmer, coldest
  const plain = /^(.{3,}?)(?:er|est)$/.exec(word)?.[1];
  if (plain !== undefined && !isKnown) addWithSynonyms(stem(plain), ADJECTIVE);
  if (isUnspaced(term)) {
    // 顶灯: the last sign says what it is.
    if (term.length > 1) add(term.slice(-1), PART);
    return [...worths].map(([variant, worth]) => ({ term: variant, worth }));
  }
  // Of the word as it is written: English stems would cut the endings of other languages.
  for (const form of formsOf(word, vocabulary.ofAgents())) add(form, OTHER_FORM);
  for (const form of formsOf(word, synonyms().keys()))
    for (const synonym of synonyms().get(form) ?? []) add(synonym, OTHER_FORM * SYNONYM);
  for (const part of partsOf(term, vocabulary.ofAgents())) add(part, PART);
  if (!isKnown && !synonyms().has(term)) {
    for (const half of halvesOf(term, vocabulary)) addWithSynonyms(half, PART);
    if (worths.size === 0)
      for (const near of nearWords(term, allWords(vocabulary))) addWithSynonyms(near, TYPO);
  }
  return [...worths].map(([variant, worth]) => ({ term: variant, worth }));
}

/** Known words that the term begins or ends, or that begin or end the term. */
function partsOf(term: string, known: Iterable<string>): string[] {
  if (term.length < PART_MIN_LETTERS || /^\d/.test(term)) return [];
  const found: string[] = [];
  let left = LOOKED_THROUGH_MAX;
  for (const word of known) {
    left -= 1;
    if (left < 0) break;
    if (word.length > term.length) {
      if (word.startsWith(term) || word.endsWith(term)) found.push(word);
    } else if (word !== term) {
      const isBeginning = word.length >= BEGINNING_MIN_LETTERS && term.startsWith(word);
      const isHead = word.length >= PART_MIN_LETTERS && term.endsWith(word);
      if (isBeginning || isHead) found.push(word);
    }
  }
  return found;
}

/** The two words that a compound is made of: lawnmower. None where either is unknown. */
function halvesOf(term: string, vocabulary: Vocabulary): string[] {
  const isWord = (half: string): boolean => vocabulary.has(half) || synonyms().has(half);
  for (let cut = HALF_MIN_LETTERS; cut <= term.length - HALF_MIN_LETTERS; cut += 1) {
    const left = stem(term.slice(0, cut));
    const right = stem(term.slice(cut));
    if (isWord(left) && isWord(right)) return [left, right];
  }
  return [];
}

function* allWords(vocabulary: Vocabulary): Iterable<string> {
  let left = LOOKED_THROUGH_MAX;
  for (const words of [synonyms().keys(), vocabulary.ofActions(), vocabulary.ofAgents()])
    for (const word of words) {
      left -= 1;
      if (left < 0) return;
      yield word;
    }
}
