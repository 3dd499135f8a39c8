/**
 * Names and values of others in a sentence of ours. They are data: visible, on one line, short, and in quotation marks as soon as
 * they have a sign that could belong to the sentence.
 */

import type { Phrases } from "../phrases/phrases.ts";
import { cutText } from "../text/cut.ts";
import { lazy } from "../text/lazy.ts";
import { oneLine } from "../tools/one-line.ts";
import { visible } from "../tools/visible.ts";

/** Characters of a name in a sentence. */
export const SLOT_MAX = 60;
/** More words may read as a sentence of their own. */
const WORDS_MAX = 5;
/** Letters of languages from left to right, digits, and what stands inside of names, ids and paths. */
const PLAIN = lazy(() => /^[\p{L}\p{N}/~.][\p{L}\p{M}\p{N} ./~_+°%-]*$/u);
/** Their direction turns the words around them. */
const RIGHT_TO_LEFT = lazy(
  () => /[\p{Script=Arabic}\p{Script=Hebrew}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}]/u,
);
const QUOTES = /["“”„‟«»‹›「」『』]/g;

/** The text as it stands in a sentence. */
export function slotText(text: string, phrases: Phrases): string {
  // What is left out is not made visible first: a name may be very long.
  const begin = text.length > 4 * SLOT_MAX ? `${text.slice(0, 4 * SLOT_MAX)}…` : text;
  const name = cutText(oneLine(visible(begin.replace(/\s+/g, " ")), begin.length * 10), SLOT_MAX);
  const isPlain = name === text && PLAIN().test(name) && !RIGHT_TO_LEFT().test(name);
  if (isPlain && name.split(" ").length <= WORDS_MAX) return name;
  return phrases.say("quoted", { name: name.replace(QUOTES, "'") });
}
