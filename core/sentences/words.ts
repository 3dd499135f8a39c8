/** Cuts a sentence into words that can be compared: folded, signs of scripts without blanks one by one, numbers and times whole. Pure. */

import { fold } from "../agents/words.ts";
import { lazy } from "../text/lazy.ts";

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

/** Signs of scripts without blanks. Each is a word. */
const UNSPACED = lazy(
  () => /^[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}]$/u,
);
const LETTER = lazy(() => /^\p{L}$/u);
const MARK = lazy(() => /^\p{M}$/u);
const LATIN_OR_NUMBER = lazy(() => /^[\p{Script=Latin}\p{N}]$/u);
/** Signs that say nothing. */
const SILENT = ".!:…¡¿()[]-_–—'’`´。！：·/";
const SPACE = /^\s$/;

/**
 * @returns the words, in their order: times of the clock, numbers, units, runs of letters, and any other sign but those that say nothing
 *
 * It asks for classes of Unicode only where a sign is not of the usual scripts: a pattern of them takes a cold start 1 ms.
 */
export function wordsOf(sentence: string): Word[] {
  const words: Word[] = [];
  let at = 0;
  while (at < sentence.length) {
    const from = at;
    const sign = signAt(sentence, at);
    at += sign.length;
    if (isDigit(sign)) at = addNumber(words, sentence, from, from);
    else if ((sign === "-" || sign === "−") && isDigit(sentence[at]) && !isAfterWord(sentence, from))
      at = addNumber(words, sentence, from, at);
    else if (isLetter(sign)) {
      while (at < sentence.length) {
        const next = signAt(sentence, at);
        if (!isLetter(next) && !isMark(next)) break;
        at += next.length;
      }
      addLetters(words, sentence, from, at);
    } else if (sign === "°") {
      const unit = degreesAt(sentence, at);
      at = unit ?? at;
      words.push({ text: fold(sentence.slice(from, at).replace(/\s/g, "")), from, to: at });
    } else if (SPACE.test(sign)) continue;
    else if (!SILENT.includes(sign) || (".。!！".includes(sign) && isLetterNext(sentence, at)))
      words.push({ text: fold(sign), from, to: at });
  }
  return words;
}

/** @param digits where its digits begin, behind a sign @returns where it ends */
function addNumber(words: Word[], sentence: string, from: number, digits: number): number {
  let at = digits;
  while (isDigit(sentence[at])) at += 1;
  if (from === digits && at - from < 3 && isClockAt(sentence, at)) {
    const to = at + 3;
    const hours = Number(sentence.slice(from, at));
    const minutes = Number(sentence.slice(at + 1, to));
    const clock = hours * 60 + minutes;
    words.push({ text: sentence.slice(from, to), from, to, ...(clock < 1_440 && minutes < 60 && { clock }) });
    return to;
  }
  if ((sentence[at] === "." || sentence[at] === ",") && isDigit(sentence[at + 1])) {
    at += 1;
    while (isDigit(sentence[at])) at += 1;
  }
  const text = sentence.slice(from, at);
  words.push({ text, from, to: at, number: Number(text.replace("−", "-").replace(",", ".")) });
  return at;
}

/** ":30", with no third digit behind it. */
function isClockAt(sentence: string, at: number): boolean {
  return (
    (sentence[at] === ":" || sentence[at] === "：") &&
    isDigit(sentence[at + 1]) &&
    isDigit(sentence[at + 2]) &&
    !isDigit(sentence[at + 3])
  );
}

/** @returns where "°C" or "° F" ends; undefined: it is a "°" alone */
function degreesAt(sentence: string, after: number): number | undefined {
  const at = SPACE.test(sentence[after] ?? "") ? after + 1 : after;
  const isUnit = at < sentence.length && "CFcf".includes(sentence[at] ?? "");
  return isUnit && !isLetter(signAt(sentence, at + 1)) ? at + 1 : undefined;
}

function addLetters(words: Word[], sentence: string, from: number, to: number): void {
  let begin = from;
  for (let at = from; at < to; ) {
    const sign = signAt(sentence, at);
    const end = at + sign.length;
    if (isUnspacedSign(sign)) {
      if (begin < at) words.push({ text: fold(sentence.slice(begin, at)), from: begin, to: at });
      words.push({ text: fold(sign), from: at, to: end });
      begin = end;
    }
    at = end;
  }
  if (begin < to) words.push({ text: fold(sentence.slice(begin, to)), from: begin, to });
}

/** The whole sign, also where it takes two units. Empty at the end. */
function signAt(text: string, at: number): string {
  const code = text.charCodeAt(at);
  if (code >= 0xd800 && code < 0xdc00) {
    const next = text.charCodeAt(at + 1);
    if (next >= 0xdc00 && next < 0xe000) return text.slice(at, at + 2);
  }
  return text.charAt(at);
}

function isDigit(sign: string | undefined): boolean {
  return sign !== undefined && sign >= "0" && sign <= "9";
}

function isLetter(sign: string): boolean {
  if (sign < "\u00c0")
    return (
      (sign >= "a" && sign <= "z") || (sign >= "A" && sign <= "Z") || (sign !== "" && LATIN_1.includes(sign))
    );
  if (sign < "\u02b0") return sign !== "×" && sign !== "÷";
  return isHan(sign) || LETTER().test(sign);
}

/** Letters before À that are none of ASCII. */
const LATIN_1 = "ªµº";

function isMark(sign: string): boolean {
  return sign >= "\u0300" && !isHan(sign) && MARK().test(sign);
}

function isHan(sign: string): boolean {
  return sign >= "\u4e00" && sign <= "\u9fff" && sign.length === 1;
}

function isUnspacedSign(sign: string): boolean {
  return sign >= "\u0e00" && (isHan(sign) || UNSPACED().test(sign));
}

/** A minus behind a word joins it to the number. */
function isAfterWord(sentence: string, at: number): boolean {
  const [before] = [...sentence.slice(Math.max(0, at - 2), at)].slice(-1);
  if (before === undefined) return false;
  return before < "\u00aa" ? isDigit(before) || isLetter(before) : LATIN_OR_NUMBER().test(before);
}

function isLetterNext(sentence: string, from: number): boolean {
  let at = from;
  while (SPACE.test(sentence[at] ?? "")) at += 1;
  return at < sentence.length && isLetter(signAt(sentence, at));
}

export function isUnspaced(word: string): boolean {
  for (let at = 0; at < word.length; at += 1) if (isUnspacedSign(signAt(word, at))) return true;
  return false;
}

const PLAIN = /^[A-Za-z]+(?: [A-Za-z]+)*$/;

/** Words of Latin letters, and numbers. */
const LATIN =
  /^(?:[A-Za-z\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u024f]+|\d+)(?: (?:[A-Za-z\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u024f]+|\d+))*$/;

const HAN = /^[\u4e00-\u9fff]+$/;

/** The key under which a phrase or a name is found. */
export function keyOf(text: string): string {
  // Nearly all phrases and names.
  if (PLAIN.test(text)) return text.toLowerCase();
  if (LATIN.test(text)) return fold(text);
  if (HAN.test(text)) return text.split("").join(" ");
  return wordsOf(text)
    .map((word) => word.text)
    .join(" ");
}

/** The signs alone: most sentences have none of them. */
const QUOTE = /["'“”„«»「」『』‹›‘’]/;
const QUOTES = lazy(() => /["“”„«»「」『』‹›]|(?<![\p{L}\p{N}])['‘’](?=\S)[^'’]*\S['’](?![\p{L}\p{N}])/u);

export function hasQuotation(sentence: string): boolean {
  return QUOTE.test(sentence) && QUOTES().test(sentence);
}

export function isQuestion(sentence: string): boolean {
  return /[?？]/.test(sentence);
}
