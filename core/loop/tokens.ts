/** Estimates the tokens of entries without a tokenizer, since each model has its own. Pure. */
import { isPicture } from "../protocol/media.ts";
import { type Call, type Entry, outcomeForModel } from "./history.ts";

/** English has about four characters a token; JSON and other languages have fewer. */
const CHARACTERS_PER_TOKEN = 3;
/** Tokens of the role and the separators. */
const PER_MESSAGE = 5;
/** Providers count 700 to 1,600 for a picture of a usual size. */
const PER_IMAGE = 1_200;

export function estimateTokens(entries: readonly Entry[]): number {
  return entries.reduce((sum, entry) => sum + entryTokens(entry), 0);
}

function entryTokens(entry: Entry): number {
  const own = PER_MESSAGE + textTokens(entry.text);
  if (entry.role === "user") return own + PER_IMAGE * (entry.images?.length ?? 0);
  if (entry.role === "note") return own;
  return own + entry.calls.reduce((sum, call) => sum + callTokens(call), 0);
}

/** The call and its result: two messages. */
function callTokens(call: Call): number {
  const asked = call.name + JSON.stringify(call.args);
  const result = call.outcome ? outcomeForModel(call.outcome) : "";
  const pictures = call.outcome?.media?.filter(isPicture).length ?? 0;
  return 2 * PER_MESSAGE + textTokens(asked) + textTokens(result) + PER_IMAGE * pictures;
}

export function textTokens(text: string): number {
  return Math.ceil(codePoints(text) / CHARACTERS_PER_TOKEN);
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
