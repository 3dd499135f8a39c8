/** Estimates the tokens of what is sent to a model without a tokenizer, since each model has its own. Pure. */
import { isPicture } from "../protocol/media.ts";
import type { Replay } from "./history.ts";
import { type Call, type Entry, outcomeForModel } from "./history.ts";

/*
 * Tokens of a character, by what it stands in. Measured with the tokenizers of GPT-4o, GPT-4, Llama 3, Llama 2 and Mistral 7B:
 * English has 4.0 to 4.7 letters and blanks a token, German 2.8 to 4.1, JSON 2.5 to 3.8, ids and base64 1.1 to 1.8, Chinese,
 * Japanese and Korean 0.6 to 1.4. Qwen, Gemma, Llama 2 and Mistral have a token for each digit.
 */
const LETTER = 0.26;
const DIGIT = 0.9;
/** Letters and digits in one word: an id, a hash, base64. */
const MIXED = 0.75;
const BLANK = 0.15;
const SIGN = 0.48;
/** é, ß, ł … */
const ACCENTED = 1;
/** Greek, Cyrillic. */
const OTHER_ALPHABET = 0.6;
/** Hebrew, Arabic. */
const WITHOUT_VOWELS = 0.72;
/** Indian and Thai writing, Chinese, Japanese, Korean. */
const OTHER = 1.1;
/** Each of the two UTF-16 units of a further code point, as of an emoji. */
const HALF = 1.2;

/** Tokens of the role and the separators. */
const PER_MESSAGE = 5;
/** Providers count 700 to 1,600 for a picture of a usual size. */
const PER_IMAGE = 1_200;

export function estimateTokens(entries: readonly Entry[]): number {
  return entries.reduce((sum, entry) => sum + entryTokens(entry), 0);
}

/** Tokens of what is sent beside the history. @param texts the system text, and a note at the end */
export function tokensBeside(texts: readonly (string | undefined)[], tools: readonly unknown[]): number {
  const messages = texts.filter((text) => text !== undefined && text !== "");
  const ofTools = tools.length > 0 ? textTokens(JSON.stringify(tools)) : 0;
  return messages.reduce((sum, text) => sum + PER_MESSAGE + textTokens(text ?? ""), ofTools);
}

function entryTokens(entry: Entry): number {
  const own = PER_MESSAGE + roughTokens(entry.text);
  if (entry.role === "user") return own + PER_IMAGE * (entry.images?.length ?? 0);
  if (entry.role === "note") return own;
  return own + replayTokens(entry.replay) + entry.calls.reduce((sum, call) => sum + callTokens(call), 0);
}

/** Thoughts and signatures that go back. To another model they do not, which is not known here. */
function replayTokens(replay: Replay | undefined): number {
  return replay ? roughTokens(JSON.stringify([replay.message, replay.content, replay.calls])) : 0;
}

/** The call and its result: two messages. */
function callTokens(call: Call): number {
  // Its id is sent with the call and with the result.
  const asked = call.name + JSON.stringify(call.args) + call.modelCallId.repeat(2);
  const result = call.outcome ? outcomeForModel(call.outcome) : "";
  const pictures = call.outcome?.media?.filter(isPicture).length ?? 0;
  return 2 * PER_MESSAGE + roughTokens(asked) + roughTokens(result) + PER_IMAGE * pictures;
}

export function textTokens(text: string): number {
  return Math.ceil(tokensIn(text));
}

/** A history may have megabytes of results that are cut later, so a long text is estimated by pieces of it. */
const SAMPLED_FROM = 1_024;
const SAMPLES = 8;
const SAMPLE_CHARS = 64;

function roughTokens(text: string): number {
  if (text.length < SAMPLED_FROM) return textTokens(text);
  const step = (text.length - SAMPLE_CHARS) / (SAMPLES - 1);
  let tokens = 0;
  for (let nth = 0; nth < SAMPLES; nth += 1) {
    const from = Math.floor(nth * step);
    tokens += tokensIn(text.slice(from, from + SAMPLE_CHARS));
  }
  return Math.ceil((tokens / (SAMPLES * SAMPLE_CHARS)) * text.length);
}

function tokensIn(text: string): number {
  let tokens = 0;
  let letters = 0;
  let digits = 0;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    const lower = code | 32;
    if (lower >= 97 && lower <= 122) letters += 1;
    else if (code >= 48 && code <= 57) digits += 1;
    else {
      tokens += wordTokens(letters, digits) + signTokens(code);
      letters = 0;
      digits = 0;
    }
  }
  return tokens + wordTokens(letters, digits);
}

function wordTokens(letters: number, digits: number): number {
  if (letters > 0 && digits > 0) return (letters + digits) * MIXED;
  return letters * LETTER + digits * DIGIT;
}

function signTokens(code: number): number {
  if (code === 32 || (code >= 9 && code <= 13)) return BLANK;
  if (code < 0x80) return SIGN;
  if (code < 0x250) return ACCENTED;
  if (code < 0x590) return OTHER_ALPHABET;
  if (code < 0x900) return WITHOUT_VOWELS;
  return code >= 0xd800 && code < 0xe000 ? HALF : OTHER;
}

export function codePoints(text: string): number {
  return text.length - (text.match(/[\uD800-\uDBFF][\uDC00-\uDFFF]/g)?.length ?? 0);
}

/** Returns the first `count` code points. */
export function headOf(text: string, count: number): string {
  // A code point takes at most two UTF-16 units.
  return Array.from(text.slice(0, 2 * count))
    .slice(0, count)
    .join("");
}
