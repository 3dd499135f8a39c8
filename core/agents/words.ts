/** Cuts ids, lines and questions into words that can be compared: folded, lightly stemmed, numbers without leading zeros. Pure. */

/** Longer words are cut there: nobody writes them, and hashes would fill the index. */
const WORD_MAX = 32;

/** One vowel and one consonant after it. */
const SHORT_BEFORE_E = /^[^aeiou]*[aeiou][^aeiouwxy]$/;

// biome-ignore lint/suspicious/noControlCharactersInRegex: the range of ASCII.
const BEYOND_ASCII = /[^\x00-\x7f]/;

const ORDINALS: Readonly<Record<string, string>> = { first: "1st", second: "2nd", third: "3rd" };
const NUMBER_WORDS = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"];

/**
 * Words of a question that say nothing about the device. "turn" and "switch" are among them: they fit whatever can be switched,
 * and would favour the devices that happen to call it that.
 */
const EMPTY_WORDS = `a about after again all already also am an and any anything are as at away be been before but by can come could did do does doing done down don
  for from get give go going got had has have he her here him his how i if in into is isn it its just left let like long
  make many may me mine more most much my near need new no not nothing now of off ok on once one or our out over please put read really s
  say set she so some something still switch t take tell than thank thanks that the their them then there these they thing this those to
  today tomorrow tonight too turn up us very want was we well were what when which while who whose why will with would yes
  yesterday yet you your aren couldn didn doesn don hadn hasn haven isn shouldn wasn weren won wouldn bitte das dem den der des die ein eine einem einen einer im ist mach mal mir und von wie wo zu
  au aux ce dans de du en est et la le les ma mes mon par pour que sur un une`;
let emptyWords: ReadonlySet<string> | undefined;

/** Lower case without accents; ä, ö, ü and ß as ids spell them: ae, oe, ue, ss. */
export function fold(text: string): string {
  const lower = text.toLowerCase();
  // Nearly all ids and lines; the rest takes five times as long.
  if (!BEYOND_ASCII.test(lower)) return lower;
  return lower
    .replace(/[äöüß]/g, (letter) => ({ ä: "ae", ö: "oe", ü: "ue" })[letter] ?? "ss")
    .normalize("NFKD")
    .replace(/\p{M}/gu, "");
}

/** Two words that are one thing, which neither of them is. */
const JOINED: ReadonlyArray<[RegExp, string]> = [
  [/\bcar[ -]parks?\b/g, "carpark"],
  [/\bair[ -]con(?:dition(?:ing|er))?s?\b/g, "aircon"],
  [/\bhot[ -]tubs?\b/g, "hottub"],
  [/\bopen[ -]plan\b/g, "openplan"],
];

const MAY_JOIN = /\b(?:car|air|hot|open)[ -]/;
const SHORT_PAIR = /(?<![\p{L}\p{N}-])(?:\p{L}{1,2}-\p{L}+|\p{L}+-\p{L}{1,2})(?![\p{L}\p{N}-])/gu;

/** The words of a text in their order, folded and not stemmed. A word of letters and digits stands whole and in parts: pi4, pi, 4. */
export function wordsOf(text: string): string[] {
  const words: string[] = [];
  // HQ_ZoneA → HQ_Zone A. An id of capitals alone stays as it is.
  const folded = fold(text.replace(/(\p{Ll})(\p{Lu})/gu, "$1 $2"));
  const joined = MAY_JOIN.test(folded)
    ? JOINED.reduce((left, [two, one]) => left.replace(two, one), folded)
    : folded;
  // hi-fi, e-bike: also as one word.
  if (joined.includes("-"))
    for (const pair of joined.match(SHORT_PAIR) ?? []) words.push(pair.replace("-", ""));
  for (const word of joined.match(/[\p{L}\p{N}]+/gu) ?? []) {
    const short = word.slice(0, WORD_MAX);
    if (!/\d/.test(short)) words.push(short);
    else if (/^\d+$/.test(short)) words.push(number(short));
    else {
      words.push(short);
      const [, name, digits] = /^(\p{L}{2,})(\d+)$/u.exec(short) ?? [];
      if (name !== undefined && digits !== undefined) words.push(name, number(digits));
    }
  }
  return words;
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
export function askedWords(text: string): string[] {
  const asked = ASIDES.reduce((left, aside) => left.replace(aside, " "), text.toLowerCase());
  // A text of asides alone is taken as it is.
  return namingWords(asked) ?? namingWords(text) ?? [];
}

function namingWords(text: string): string[] | undefined {
  emptyWords ??= new Set(EMPTY_WORDS.split(/\s+/).flatMap((word) => [word, stem(word)]));
  const empty = emptyWords;
  const words = wordsOf(text).filter((word) => !empty.has(word));
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
