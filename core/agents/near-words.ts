/** Words of a vocabulary that a mistyped word may mean. Pure. */
import { slips } from "../text/closest.ts";

/** Shorter words have too many neighbours. */
const TYPO_MIN_LETTERS = 4;
/** From this length two slips are forgiven. */
const TWO_SLIPS_FROM = 8;

/** A bit for each letter that a word has: words far apart differ in many, which is found without comparing them. */
export function letterBits(word: string): number {
  let bits = 0;
  for (let at = 0; at < word.length; at += 1) bits |= 1 << (word.charCodeAt(at) & 31);
  return bits;
}

/** @returns the nearest words, all equally near; none where the word is too short or nothing is near */
export function nearWords(word: string, vocabulary: Iterable<string>): string[] {
  if (word.length < TYPO_MIN_LETTERS || /\d/.test(word)) return [];
  let allowed = word.length < TWO_SLIPS_FROM ? 1 : 2;
  const bits = letterBits(word);
  let found: string[] = [];
  for (const known of vocabulary) {
    if (Math.abs(known.length - word.length) > allowed || known.length < TYPO_MIN_LETTERS - 1) continue;
    // A slip changes two letters at most.
    if (ones(bits ^ letterBits(known)) > 2 * allowed) continue;
    const distance = slips(word, known, allowed);
    if (distance > allowed) continue;
    if (distance < allowed) found = [];
    allowed = distance;
    found.push(known);
  }
  return found;
}

function ones(bits: number): number {
  let left = bits;
  let count = 0;
  while (left !== 0) {
    left &= left - 1;
    count += 1;
  }
  return count;
}
