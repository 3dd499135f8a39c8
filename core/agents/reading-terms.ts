/** The meanings of people's words for readings, states and kinds of devices (search-words-data.ts). */
import { formsOf } from "./case-forms.ts";
import { nearWords } from "./near-words.ts";
import { linesOf, ofSearchWords, type SearchWords } from "./search-words.ts";
import { fold, isUnspaced, stem } from "./words.ts";

/** Two and more words for one. Of folded texts; the order counts. */
const PHRASES: ReadonlyArray<[RegExp, string]> = [
  [
    /\bcolou?r[ _-]?temp(?:erature)?s?\b|\btemperature de (?:la )?couleur\b|\btemperatura (?:del? |di )?(?:color|colore|cor)\b|\btemperatura barw\w+/g,
    "colourtemp",
  ],
  [
    /\b(?:target|set|desired)[ _-]?(?:point )?temp(?:erature)?\b|\bset ?point\b|\b(?:temperature de )?consigne\b|\btemperatura (?:objetivo|impostata|zadana|alvo)\b|(?:目标|目標|設定|设定)温度/g,
    "targettemp",
  ],
  [/\bsoil (?:moisture|humidity)\b|土壤湿度|土壤水分/g, "soilmoisture"],
  [/\bpm ?2[.,_]5\b/g, "pm25"],
  [/\bco ?₂/g, "co2"],
];

export type Term = { of: "class" | "state"; name: string };

type Terms = {
  byWord: ReadonlyMap<string, readonly Term[]>;
  /** Classes by their words' stems. States are told by the very word: an open door is not opening, and a lock need not be locked. */
  byStem: ReadonlyMap<string, readonly Term[]>;
  byUnit: ReadonlyMap<string, string>;
  /** Words of scripts without blanks, the longest first. */
  unspaced: readonly string[];
  groups: ReadonlyArray<readonly string[]>;
};
const terms = ofSearchWords(makeTerms);

function makeTerms({ classes, states }: SearchWords): Terms {
  const byWord = new Map<string, Term[]>();
  const byStem = new Map<string, Term[]>();
  const byUnit = new Map<string, string>();
  const groups: string[][] = [];
  for (const line of linesOf(classes)) {
    const [, name = "", units = "", words = ""] = /^(\w+) \[(.*?)\]: (.*)$/.exec(line) ?? [];
    const folded = fold(words).split(" ");
    for (const word of [name, ...folded]) {
      add(byWord, word, { of: "class", name });
      add(byStem, stem(word), { of: "class", name });
    }
    for (const unit of units.split(" ").filter(Boolean)) byUnit.set(unit, name);
    groups.push([...new Set([...folded, name].map(stem))]);
  }
  for (const line of linesOf(states)) {
    const [name = "", words = ""] = line.split(": ");
    for (const word of [name, ...fold(words).split(" ")]) add(byWord, word, { of: "state", name });
  }
  const unspaced = [...byWord.keys()].filter(isUnspaced).sort((a, b) => b.length - a.length);
  return { byWord, byStem, byUnit, unspaced, groups };
}

function add(terms: Map<string, Term[]>, word: string, term: Term): void {
  const known = terms.get(word) ?? [];
  terms.set(word, known);
  if (!known.some(({ of, name }) => of === term.of && name === term.name)) known.push(term);
}

/** Words of one meaning, a group an entry, folded and stemmed: for the search of agents by their words. */
export function classGroups(): ReadonlyArray<readonly string[]> {
  return terms().groups;
}

/** The classes and states that a word may mean; also for another form of it, or with a slip. @param word folded */
export function termsOf(word: string): readonly Term[] {
  const { byWord, byStem } = terms();
  const own = byWord.get(word) ?? byStem.get(stem(word));
  if (own || isUnspaced(word) || /\d/.test(word)) return own ?? [];
  const forms = formsOf(word, byWord.keys());
  const near = forms.length > 0 ? forms : nearWords(word, byWord.keys());
  return near.flatMap((one) => byWord.get(one) ?? []);
}

/** The states that a word tells without any doubt. @param word folded */
export function statesOf(word: string): string[] {
  return (terms().byWord.get(word) ?? []).flatMap(({ of, name }) => (of === "state" ? [name] : []));
}

/** The classes that a word names without any doubt. @param word folded */
export function classesOf(word: string): string[] {
  const { byWord, byStem } = terms();
  const own = byWord.get(word) ?? byStem.get(stem(word)) ?? [];
  return own.flatMap(({ of, name }) => (of === "class" ? [name] : []));
}

/** The class that a unit tells; undefined: several have it, as `%`. */
export function classOfUnit(unit: string): string | undefined {
  return terms().byUnit.get(unit);
}

/** A text with the phrases of several words as one. @param text folded */
export function withPhrases(text: string): string {
  return PHRASES.reduce((left, [phrase, word]) => left.replace(phrase, word), text);
}

/** Puts blanks around known words of a text that has none between words: 窗户打开 → 窗户 打开. */
export function spaced(text: string): string {
  if (!isUnspaced(text)) return text;
  const { unspaced } = terms();
  let left = "";
  for (let at = 0; at < text.length; ) {
    const word = unspaced.find((one) => text.startsWith(one, at));
    left += word === undefined ? text.charAt(at) : ` ${word} `;
    at += word?.length ?? 1;
  }
  return left;
}
