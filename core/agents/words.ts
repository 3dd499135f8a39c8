/** Cuts ids, lines and questions into words that can be compared: folded, lightly stemmed, numbers without leading zeros. Pure. */

import { lazy } from "../text/lazy.ts";
import { ofSearchWords } from "./search-words.ts";

/** Longer words are cut there: nobody writes them, and hashes would fill the index. */
const WORD_MAX = 32;

/** One vowel and one consonant after it. */
const SHORT_BEFORE_E = /^[^aeiou]*[aeiou][^aeiouwxy]$/;

// biome-ignore lint/suspicious/noControlCharactersInRegex: the range of ASCII.
const BEYOND_ASCII = /[^\x00-\x7f]/;

const ORDINALS: Readonly<Record<string, string>> = { first: "1st", second: "2nd", third: "3rd" };
const NUMBER_WORDS = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"];

/** Words of a question that say nothing about the device. */
const stopWords = ofSearchWords(({ stop }) => new Set(stop.split(/\s+/).flatMap((one) => [one, stem(one)])));

/** Letters that are no other letter with a mark, and what stands for them. Of ä, ö, ü and ß as ids spell them. */
const LETTERS: Readonly<Record<string, string>> = {
  ä: "ae",
  ö: "oe",
  ü: "ue",
  ß: "ss",
  æ: "ae",
  œ: "oe",
  ø: "o",
  ł: "l",
  đ: "d",
  ð: "d",
  ı: "i",
  þ: "th",
  ħ: "h",
  ŋ: "n",
  ŧ: "t",
  ĸ: "k",
};
const LETTER = new RegExp(`[${Object.keys(LETTERS).join("")}]`, "g");

/** Letters with a mark, and theirs without. */
const MARKED = "àáâãåçèéêëìíîïñòóôõùúûýÿāăąćĉċčďēĕėęěĝğġģĥĩīĭįĵķĺļľńņňōŏőŕŗřśŝşšţťũūŭůűųŵŷźżž";
const UNMARKED = "aaaaaceeeeiiiinoooouuuyyaaaccccdeeeeegggghiiiijklllnnnooorrrssssttuuuuuuwyzzz";
const HAN = /^[\u4e00-\u9fff]$/;

// biome-ignore lint/suspicious/noControlCharactersInRegex: the range of ASCII.
const NOT_ASCII = /[^\x00-\x7f]/g;

/** @returns undefined: it has other letters, which are put together from Unicode's tables. Those take a cold start half a millisecond */
function foldKnown(lower: string): string | undefined {
  let isKnown = true;
  const folded = lower.replace(NOT_ASCII, (letter) => {
    const at = MARKED.indexOf(letter);
    const plain = at >= 0 ? UNMARKED[at] : HAN.test(letter) ? letter : LETTERS[letter];
    isKnown &&= plain !== undefined;
    return plain ?? letter;
  });
  return isKnown ? folded : undefined;
}

/** Lower case without accents and in Latin letters as plain as they may be: ä → ae, é → e, ł → l. */
export function fold(text: string): string {
  const lower = text.toLowerCase();
  // Nearly all ids and lines; the rest takes five times as long.
  if (!BEYOND_ASCII.test(lower)) return lower;
  const known = foldKnown(lower);
  if (known !== undefined) return known;
  // A mark may stand behind its letter, as a Mac writes ü. Without their marks others are put together again: Hangul.
  return lower
    .normalize("NFC")
    .replace(LETTER, (letter) => LETTERS[letter] ?? letter)
    .normalize("NFKD")
    .replace(/\p{M}/gu, "")
    .normalize("NFC");
}

/** Two words that are one thing, which neither of them is. */
const JOINED: ReadonlyArray<[RegExp, string]> = [
  [/\bcar[ -]parks?\b/g, "carpark"],
  [/\bair[ -]con(?:dition(?:ing|er))?s?\b/g, "aircon"],
  [/\bhot[ -]tubs?\b/g, "hottub"],
  [/\bopen[ -]plan\b/g, "openplan"],
  // No temperature: of reading-terms.ts.
  [/\bcolou?r[ -]temp(?:erature)?s?\b/g, "colourtemp"],
];

const MAY_JOIN = /\b(?:car|air|hot|open|colou?r)[ -]/;
const SHORT_PAIR = lazy(() => /(?<![\p{L}\p{N}-])(?:\p{L}{1,2}-\p{L}+|\p{L}+-\p{L}{1,2})(?![\p{L}\p{N}-])/gu);

/** Scripts without blanks between words, and Hangul, whose words take endings. */
const UNSPACED =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}ー]+/gu;
/** Particles between words there: "of", "in", "which", "is there", "please" … */
const BETWEEN =
  /所有|什么|什麼|[的了着在里裡哪是吗嗎呢吧都把请請给給和与我你几个個些所有么什扇盏台のがをにはへと]|から|まで|です|ます|どこ|どの|ください|设备|設備|装置|에서|은|는|이|가|을|를/u;

/** Tells whether a word is of a script without blanks between words. */
export function isUnspaced(word: string): boolean {
  return word.search(UNSPACED) >= 0;
}

/**
 * The words of a text in their order, folded and not stemmed. A word of letters and digits stands whole and in parts: pi4, pi, 4. A
 * text without blanks stands whole, and in all its pairs of signs and single signs, since any of them may be a word.
 */
export function wordsOf(text: string): string[] {
  return cut(text, (run) => [run, ...(run.length > 2 ? bigrams(run) : []), ...(run.length > 1 ? run : [])]);
}

/** The words of a question: of a text without blanks only the pairs, and what stands alone between others. */
function questionText(text: string): string[] {
  return cut(text, (run) =>
    run.split(BETWEEN).flatMap((part) => (part.length < 3 ? part || [] : bigrams(part))),
  );
}

function bigrams(run: string): string[] {
  return Array.from({ length: run.length - 1 }, (_, at) => run.slice(at, at + 2));
}

function cut(text: string, ofRun: (run: string) => string[]): string[] {
  const words: string[] = [];
  // HQ_ZoneA → HQ_Zone A. An id of capitals alone stays as it is.
  const folded = fold(text.replace(/(\p{Ll})(\p{Lu})/gu, "$1 $2")).replace(UNSPACED, " $& ");
  const joined = MAY_JOIN.test(folded)
    ? JOINED.reduce((left, [two, one]) => left.replace(two, one), folded)
    : folded;
  // hi-fi, e-bike: also as one word.
  if (joined.includes("-"))
    for (const pair of joined.match(SHORT_PAIR()) ?? []) words.push(pair.replace("-", ""));
  for (const word of joined.match(/[\p{L}\p{N}]+/gu) ?? []) {
    const short = word.slice(0, WORD_MAX);
    if (isUnspaced(short)) words.push(...ofRun(short));
    else if (!/\d/.test(short)) words.push(short);
    else if (/^\d+$/.test(short)) words.push(number(short));
    else {
      words.push(short);
      const [, name, digits] = /^(\p{L}{2,})(\d+)$/u.exec(short) ?? [];
      if (name !== undefined && digits !== undefined) words.push(name, number(digits));
    }
  }
  return words;
}

/** Tells whether a word of a question names nothing. @param word folded */
export function isStopWord(word: string): boolean {
  return stopWords().has(word);
}

/** What a question says about when, how much and the person is. None of it tells devices apart. */
const ASIDES = [
  /\b(?:numbers?|no|nr)\b\.?(?= ?\d| (?:one|two|three|four|five|six|seven|eight|nine|ten)\b)/g,
  /\b(?:last|this|next|every|all|at|by|the other) (?:night|morning|evening|afternoon|noon|midnight|week|weekend|month|year|day|moment|time)\b/g,
  /\b(?:right|just) now\b|\bat (?:home|our house|our place|all)\b/g,
  /\b\d+(?:[.,:]\d+)? ?(?:%|°|percent|degrees?|minutes?|mins?|hours?|seconds?|o'?clock|am|pm|watts?|kwh?|amps?|amperes?|volts?|ppm|bar|lit(?:er|re)s?|kg|grams?|[ckm]?m)(?!\p{L})/gu,
  /\b(?:to|at|for|by|until|till|than|around|about|below|above|over|under) -?\d+(?:[.,:]\d+)?(?!\p{L}|\d)/gu,
];

/** What a question asks for: its words without those that name nothing. */
export function askedText(text: string): string[] {
  const asked = ASIDES.reduce((left, aside) => left.replace(aside, " "), text.toLowerCase());
  // A text of asides alone is taken as it is.
  return namingWords(asked) ?? namingWords(text) ?? [];
}

function namingWords(text: string): string[] | undefined {
  const words = questionText(text).filter((word) => !isStopWord(word));
  return words.length > 0 ? words : undefined;
}

/**
 * Light stemming of English: plurals, -ing, -ed and a last e. Both sides are stemmed, so the result need not be a word. A short
 * word keeps its e, and -ing gives it back: plane is no plan, and closing is close.
 */
export function stem(word: string): string {
  if (/\d/.test(word) || word.length < 4) return word;
  let stemmed = word;
  if (/[^aeiou]ies$/.test(stemmed) && stemmed.length > 4) stemmed = `${stemmed.slice(0, -3)}y`;
  else if (/(?:s|x|z|ch|sh)es$/.test(stemmed)) stemmed = stemmed.slice(0, -2);
  else if (/[^sui]s$/.test(stemmed)) stemmed = stemmed.slice(0, -1);
  const ending = /^(.*[aeiouy].*[^aeiou]|.*[aeiouy]{2})(?:ing|ed)$/.exec(stemmed)?.[1];
  if (ending !== undefined && ending.length > 2) {
    if (/([^aeiouls])\1$/.test(ending)) return ending.slice(0, -1);
    return SHORT_BEFORE_E.test(ending) ? `${ending}e` : ending;
  }
  if (!stemmed.endsWith("e") || stemmed.length < 5) return stemmed;
  const cut = stemmed.slice(0, -1);
  return SHORT_BEFORE_E.test(cut) ? stemmed : cut;
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
