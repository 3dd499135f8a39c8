/** Words that mean much the same where devices are concerned (search-words-data.ts): what people say, and what stands in ids and lines. */
import { classGroups } from "./reading-terms.ts";
import { linesOf, ofSearchWords, type SearchWords } from "./search-words.ts";
import { fold, stem } from "./words.ts";

/** Stem → the stems of the words that mean much the same. Most homes need none. */
export const synonyms = ofSearchWords(makeSynonyms);

function makeSynonyms({ groups }: SearchWords): ReadonlyMap<string, ReadonlySet<string>> {
  const found = new Map<string, Set<string>>();
  for (const words of [
    ...linesOf(groups).map((group) => fold(group).split(" ").map(stem)),
    ...classGroups(),
  ]) {
    for (const word of words) {
      const others = found.get(word) ?? new Set();
      for (const other of words) if (other !== word) others.add(other);
      found.set(word, others);
    }
  }
  return found;
}
