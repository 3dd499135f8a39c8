/** Cuts ids, lines and questions into words that can be compared: folded, lightly stemmed, numbers without leading zeros. Pure. */

/** Longer words are cut there: nobody writes them, and hashes would fill the index. */
const WORD_MAX = 32;

const ORDINALS: Readonly<Record<string, string>> = { first: "1st", second: "2nd", third: "3rd" };
const NUMBER_WORDS = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"];

/**
 * Words of a question that say nothing about the device. "turn" and "switch" are among them: they fit whatever can be switched,
 * and would favour the devices that happen to call it that.
 */
const EMPTY_WORDS = new Set(
  `a about after again all already also am an and any are as at away back be been before but by can come could did do does doing don
  for from get give go going got had has have he her here him his how i if in into is isn it its just left let like long
  make many may me mine more most much my near need no not now of off ok on once one or our out over please put read really s
  say set she so some still switch t take tell than thank thanks that the their them then there these they thing this those to
  today tomorrow tonight too turn up us use very want was we well were what when where which while who whose why will with would yes
  yesterday yet you your bitte das dem den der des die ein eine einem einen einer im ist mach mal mir und von wie wo zu
  au aux ce dans de du en est et la le les ma mes mon par pour que sur un une`
    .split(/\s+/)
    .flatMap((word) => [word, stem(word)]),
);

/** Lower case without accents; ä, ö, ü and ß as ids spell them: ae, oe, ue, ss. */
export function fold(text: string): string {
  return text
    .toLowerCase()
    .replace(/[äöüß]/g, (letter) => ({ ä: "ae", ö: "oe", ü: "ue" })[letter] ?? "ss")
    .normalize("NFKD")
    .replace(/\p{M}/gu, "");
}

/** The words of a text in their order, folded and not stemmed. A word of letters and digits stands whole and in parts: pi4, pi, 4. */
export function wordsOf(text: string): string[] {
  const words: string[] = [];
  // HQ_ZoneA → HQ_Zone A. An id of capitals alone stays as it is.
  const apart = text.replace(/(\p{Ll})(\p{Lu})/gu, "$1 $2");
  for (const [word] of fold(apart).matchAll(/[\p{L}\p{N}]+/gu)) {
    const short = word.slice(0, WORD_MAX);
    if (/^\d+$/.test(short)) words.push(number(short));
    else if (/\d/.test(short)) {
      words.push(short);
      const parts = short.match(/\p{L}+|\d+/gu) ?? [];
      const isName = parts.length === 2 && /^\p{L}{2,}$/u.test(parts[0] ?? "");
      if (isName) words.push(...parts.map((part) => (/^\d/.test(part) ? number(part) : part)));
    } else words.push(short);
  }
  return words;
}

/** What a question asks for: its words without those that name nothing. */
export function askedWords(text: string): string[] {
  return wordsOf(text).filter((word) => !EMPTY_WORDS.has(word));
}

/** Light stemming of English: plurals, -ing, -ed and a last e. Both sides are stemmed, so the result need not be a word. */
export function stem(word: string): string {
  if (/\d/.test(word) || word.length < 4) return word;
  let stemmed = word;
  if (/[^aeiou]ies$/.test(stemmed) && stemmed.length > 4) stemmed = `${stemmed.slice(0, -3)}y`;
  else if (/(?:s|x|z|ch|sh)es$/.test(stemmed)) stemmed = stemmed.slice(0, -2);
  else if (/[^sui]s$/.test(stemmed)) stemmed = stemmed.slice(0, -1);
  const ending = /^(.*[aeiouy].*[^aeiou]|.*[aeiouy]{2})(?:ing|ed)$/.exec(stemmed)?.[1];
  if (ending !== undefined && ending.length > 2)
    stemmed = /([^aeiouls])\1$/.test(ending) ? ending.slice(0, -1) : ending;
  return stemmed.length > 3 && stemmed.endsWith("e") ? stemmed.slice(0, -1) : stemmed;
}

/** Other ways of writing a number or its rank: second → 2nd, 2; two → 2. */
export function numberForms(word: string): string[] {
  const ordinal = ORDINALS[word] ?? word;
  const rank = /^(\d{1,2})(?:st|nd|rd|th)$/.exec(ordinal)?.[1];
  if (rank) return [ordinal, rank];
  const value = NUMBER_WORDS.indexOf(word);
  return value < 0 ? [] : [String(value)];
}

function number(digits: string): string {
  return digits.replace(/^0+(?=\d)/, "");
}
