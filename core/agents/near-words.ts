/** Words of a vocabulary that a mistyped word may mean. Pure. */
import { slips } from "../text/closest.ts";

/** Shorter words have too many neighbours. */
const TYPO_MIN_LETTERS = 5;
/** From this length two slips are forgiven. */
const TWO_SLIPS_FROM = 8;

/** @returns how many letters and digits only one of the two has. A slip changes two at most, so words far apart need no comparison. */
export function lettersApart(a: string, b: string): number {
  return ones(letterBits(a) ^ letterBits(b));
}

function letterBits(word: string): number {
  let bits = 0;
  for (let at = 0; at < word.length; at += 1) bits |= 1 << (word.charCodeAt(at) & 31);
  return bits;
}

/** @param minLetters of a word that is looked for @returns the nearest words, all equally near; none where the word is too short or nothing is near */
export function nearWords(
  word: string,
  vocabulary: Iterable<string>,
  minLetters = TYPO_MIN_LETTERS,
): string[] {
  if (word.length < minLetters || /\d/.test(word)) return [];
  let allowed = word.length < TWO_SLIPS_FROM ? 1 : 2;
  let found: string[] = [];
  for (const known of vocabulary) {
    if (Math.abs(known.length - word.length) > allowed || known.length < minLetters - 1) continue;
    if (lettersApart(word, known) > 2 * allowed) continue;
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
