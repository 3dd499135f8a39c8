/** Cuts a sentence into words that can be compared: folded, signs of scripts without blanks one by one, numbers and times whole. Pure. */
import { fold } from "../agents/words.ts";

export type Word = {
  /** Folded. */
  text: string;
  /** Where it stands in the sentence. */
  from: number;
  to: number;
  number?: number;
  /** Minutes of the day. */
  clock?: number;
};

const UNSPACED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}]/u;
/** In this order: a time of the clock, a number, a unit, letters, and any other sign but those that say nothing. */
const WORD =
  /(\d{1,2})[:：](\d{2})(?!\d)|((?:(?<![\p{Script=Latin}\p{N}])[-−])?\d+(?:[.,]\d+)?)|°\s?[CFcf](?!\p{L})|\p{L}[\p{L}\p{M}]*|[^\s.!:…¡¿()[\]\-_–—'’`´。！：·/]|[.。!！;；](?=\s*\p{L})/gu;

/** @returns the words, in their order */
export function wordsOf(sentence: string): Word[] {
  const words: Word[] = [];
  for (const match of sentence.matchAll(WORD)) {
    const [raw, hours, minutes, digits] = match;
    const from = match.index;
    const to = from + raw.length;
    if (hours !== undefined) {
      const clock = Number(hours) * 60 + Number(minutes);
      words.push({ text: raw, from, to, ...(clock < 1_440 && Number(minutes) < 60 && { clock }) });
    } else if (digits !== undefined) {
      words.push({ text: digits, from, to, number: Number(digits.replace("−", "-").replace(",", ".")) });
    } else if (UNSPACED.test(raw)) {
      let at = from;
      for (const run of raw.match(RUNS) ?? []) {
        words.push({ text: fold(run), from: at, to: at + run.length });
        at += run.length;
      }
    } else words.push({ text: fold(raw.replace(/\s/g, "")), from, to });
  }
  return words;
}

export function isUnspaced(word: string): boolean {
  return UNSPACED.test(word);
}

const RUNS = new RegExp(`${UNSPACED.source}|(?:(?!${UNSPACED.source}).)+`, "gu");

const PLAIN = /^[A-Za-z]+(?: [A-Za-z]+)*$/;

const HAN = /^[\u4e00-\u9fff]+$/;

/** The key under which a phrase or a name is found. */
export function keyOf(text: string): string {
  // Nearly all phrases and names.
  if (PLAIN.test(text)) return text.toLowerCase();
  if (HAN.test(text)) return text.split("").join(" ");
  return wordsOf(text)
    .map((word) => word.text)
    .join(" ");
}

const QUOTES = /["“”„«»「」『』‹›]|(?<![\p{L}\p{N}])['‘’](?=\S)[^'’]*\S['’](?![\p{L}\p{N}])/u;

export function hasQuotation(sentence: string): boolean {
  return QUOTES.test(sentence);
}

export function isQuestion(sentence: string): boolean {
  return /[?？]/.test(sentence);
}
