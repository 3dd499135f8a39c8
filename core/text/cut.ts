/** Cuts what people read between graphemes: half an emoji, or a letter without its accent, is shown by no cut. */

import { lazy } from "./lazy.ts";

const MORE = "…";
/** Text as the signs that people see. */
export const graphemes = lazy(() => new Intl.Segmenter("en", { granularity: "grapheme" }));

/**
 * @param at UTF-16 units
 * @returns the last place up to `at` between two graphemes; a single grapheme that is longer is cut between characters
 */
export function graphemeCut(text: string, at: number): number {
  if (at >= text.length) return text.length;
  if (at <= 0) return 0;
  // A cut that far from the last line break or letter is no cut of an ordinary grapheme.
  const from = Math.max(0, at - LOOKED_BACK);
  let start = isLow(text, from) ? from + 1 : from;
  // Flags are pairs of letters, counted from the first one of a row.
  while (FLAG_LETTER.test(text.slice(start - 2, start))) start -= 2;
  const window = text.slice(start, at + LOOKED_BACK);
  const cut =
    start +
    (graphemes()
      .segment(window)
      .containing(at - start)?.index ?? at - start);
  if (cut > start || start === 0) return cut === 0 ? wholeCharacter(text, at) : cut;
  return wholeCharacter(text, at);
}

const FLAG_LETTER = /^[\u{1F1E6}-\u{1F1FF}]$/u;
/** Longer than any emoji, with room for those around it. */
const LOOKED_BACK = 256;

function wholeCharacter(text: string, at: number): number {
  return isLow(text, at) && at > 1 ? at - 1 : at;
}

/** True if a character of two units ends here. */
export function isLow(text: string, at: number): boolean {
  const code = text.charCodeAt(at);
  return code >= 0xdc00 && code <= 0xdfff;
}

/**
 * A text for people in a place of limited length.
 * @param max UTF-16 units, at least 1
 * @returns whole graphemes; the last one is "…" if anything was left out
 */
export function cutText(text: string, max: number): string {
  if (text.length <= max) return text;
  return `${text.slice(0, graphemeCut(text, max - MORE.length)).trimEnd()}${MORE}`;
}
