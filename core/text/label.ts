/**
 * Words of a stranger that may stand before a model although nobody has accepted them, since they read like a label rather than like
 * an order: "Kitchen lamp", "IKEA TRADFRI bulb".
 */

import { lazy } from "./lazy.ts";

const LABEL_WORDS_MAX = 5;
const LABEL_CHARS_MAX = 40;
/** Letters, digits and what stands in names, models and units. No sentence can be told from the next one with these. */
const LABEL = lazy(() => /^[\p{L}\p{M}\p{N} '’()[\]._/+&#°%²³µ,*:…-]+$/u);
/** The end of a sentence or of a clause. */
const PAUSE = /[.:,] /;
/** Words that speak to a model, and hardly ever name a thing. */
const SPEAKS =
  /(?<!\p{L})(?:ignore|disregard|forget|instructions?|prompt|assistant|approved?|please|must|you)(?!\p{L})/iu;

/** Words of ids and of names of actions. */
const ID_WORDS_MAX = 6;
const ID_CHARS_MAX = 48;

/** True for a few words without an end of a sentence, and without invisible characters. */
export function isLabel(text: string): boolean {
  return (
    text.length <= LABEL_CHARS_MAX &&
    LABEL().test(text) &&
    !PAUSE.test(text) &&
    !SPEAKS.test(text) &&
    text.trim().split(/[\s_]+/).length <= LABEL_WORDS_MAX
  );
}

/** True for an id, or the name of an action, of a few words. */
export function isShortId(id: string): boolean {
  return id.length <= ID_CHARS_MAX && id.split(/[-_]+/).length <= ID_WORDS_MAX && !SPEAKS.test(id);
}
