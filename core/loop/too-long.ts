/**
 * Reads from an endpoint's words whether a request was too long for its model, or asked for too long a reply. Endpoints agree on
 * no code and no wording, so the kind is known by general words, and the numbers by the words beside them. Pure.
 */

export type TooLong = {
  /** `input`: what was sent, or it and the reply together. `output`: `max_tokens` alone. */
  kind: "input" | "output";
  /** The most tokens that fit. */
  limit?: number;
  /** The tokens that were sent or asked for. For `input` the reply's may be among them. */
  sent?: number;
  /** The tokens of the messages alone, where the words tell them apart. */
  input?: number;
};

const NUMBER = String.raw`(\d{1,3}(?:,\d{3})+|\d+)`;
/** Between a word and its number. A number after `by` is a difference. */
const gap = (most: number) => String.raw`(?:(?!\bby\b)\D){0,${most}}`;
/** The places of a limit, the surest first. */
const LIMITS = [
  String.raw`\d ?>=? ?(?:\w+ \()?${NUMBER}`,
  String.raw`\bonly\b${gap(25)}${NUMBER}`,
  String.raw`(?:range|between)\b${gap(45)}\d+${gap(22)}${NUMBER}(?: \(exclusive\))?`,
  String.raw`${NUMBER}(?: tokens?)? (?:maximum|max)\b`,
  String.raw`(?:context[\s_-]*(?:length|window|size|limit)|n_ctx|max_model_len|max_seq_len|token limit|(?:maximum|max)\s+(?:\w+ ){0,2}length)${gap(40)}${NUMBER}`,
  String.raw`(?:\blimit\b|at most|up to|\bmaximum(?: [a-z]+){0,4}|\bmax\b|not exceed|less than or equal to|<=|≤|>|\ballowed\b|\bsupports\b|(?:lower|less|smaller) than)${gap(25)}${NUMBER}`,
].map((source) => new RegExp(source, "i"));
const INPUT_SIZES = [
  `${NUMBER} (?:input tokens|in the messages|of text input|.inputs. tokens|tokens from the input)`,
  String.raw`input token count\D{0,12}${NUMBER}`,
].map((source) => new RegExp(source, "i"));
/** Neither a part of a name nor the status of the answer. */
const FREE_NUMBER = new RegExp(String.raw`(?<![\w.-]|answered )${NUMBER}`, "g");
/** Smaller numbers are codes, versions and shares. */
const LEAST = 64;

const REPLY =
  /max[_ ]?(?:completion|output|new)?[_ ]?tokens|maximum (?:number of )?(?:output |completion )?tokens/i;
const REPLY_TOO_LARGE =
  /too (?:large|high|big|many)|at most|up to|(?:less|lower|smaller) than|above|<=|≤|> ?\d|exceed|range|between|greater than the max|fewer|maximum (?:allowed|value)/i;
/** Words of another fault of this parameter. */
const REPLY_OTHERWISE =
  /unsupported parameter|not supported|at least|higher max|was reached|budget_tokens|extra inputs|required/i;
/** The window's own size, or the prompt's: then `max_tokens` is a part of the sum. */
const SUM =
  /context[\s_-]*(?:length|window|size|limit)\D{0,25}\d|input (?:length|tokens)\b.{0,30}(?:\+|and)|inputs\S? tokens \+|number of input and|in the completion|in the prompt|input tokens?\b/i;

const WINDOW =
  /context[\s_-]*(?:length|window|size|limit|overflow)|context is full|contextwindow|model's window|overflows|n_ctx|max_model_len|max_seq_len|(?:maximum|max) (?:\w+ )?(?:prompt|model|sequence) length/i;
const PROMPT =
  /(?<!max_|completion_|output_|new_|budget_)tokens\b|token (?:count|limit)|\bprompt\b|\binputs? (?:is|length|exceed|validation)|max length|message size|length of the messages|(?:messages?|conversation|history|chat) (?:is|are) too|(?:request|payload)(?: entity| body)? (?:is )?too large|content too large|request exceeds/i;
const EXCESS =
  /too (?:long|large|many)|exceed|overflow|(?:longer|larger|greater|more) than|> ?\d|>= ?n_|<= ?\d|is full|not fit|however|cannot truncate|reduce (?:the|your)|should be \[|not enough|supports? (?:only )?up to|while limit|request contains|maximum \w+ length/i;
/** Other things that may be too long, too large or too many. */
const OTHERWISE =
  /string too long|array too long|\bimages?\b|picture|audio|\bMB\b|too many (?:requests|tools|messages)|credit|quota|billing|expired/i;
/** A limit of tokens in a span of time is no limit of one request, unless the request alone is above it. */
const RATE = /rate limit|per (?:minute|min|hour|day)\b|\bTP[MD]\b|try again in/i;
const ALONE_TOO_LARGE = /request too large|must be reduced|reduce your message/i;

/** @param words the endpoint's, of any error */
export function parseTooLong(words: string): TooLong | undefined {
  const sizes = sizesIn(words);
  const isReply = REPLY.test(words) && REPLY_TOO_LARGE.test(words) && !REPLY_OTHERWISE.test(words);
  if (isReply && !SUM.test(words)) return { kind: "output", ...sizes };
  const isExcess = EXCESS.test(words) || sizes.sent !== undefined;
  const isOfTokens = WINDOW.test(words) || (PROMPT.test(words) && !OTHERWISE.test(words));
  if (!isExcess || !isOfTokens) return undefined;
  if (RATE.test(words) && !ALONE_TOO_LARGE.test(words)) {
    const isAbove = sizes.limit !== undefined && requestedIn(words) > sizes.limit;
    if (!isAbove) return undefined;
  }
  return { kind: "input", ...sizes };
}

function sizesIn(words: string): Omit<TooLong, "kind"> {
  const sum = /(\d+) ?\+ ?(\d+) ?> ?(\d+)/.exec(words);
  if (sum) {
    const [input = 0, reply = 0, limit = 0] = sum.slice(1).map(Number);
    return { limit, sent: input + reply, input };
  }
  const numbers = Array.from(words.matchAll(FREE_NUMBER), ([, digits = ""]) => read(digits));
  const limit = limitIn(words, numbers);
  if (limit === undefined) return {};
  const sent = Math.max(...numbers);
  const input = firstMatch(INPUT_SIZES, words);
  return { limit, ...(sent > limit && { sent }), ...(input !== undefined && { input }) };
}

function limitIn(words: string, numbers: readonly number[]): number | undefined {
  // A single number in brackets, where nothing says that it counts tokens, is the error's code.
  if (numbers.length === 1 && /\(\d+\)/.test(words) && !/token/i.test(words)) return undefined;
  // Of two numbers without such a word the smaller one is the limit.
  const [most = 0, next] = [...new Set(numbers)].filter((number) => number >= LEAST).sort((a, b) => b - a);
  const said = firstMatch(LIMITS, words);
  return said !== undefined &&
    (said < most || numbers.length === 1 || INPUT_SIZES.some((size) => size.test(words)))
    ? said
    : (next ?? said);
}

function firstMatch(patterns: readonly RegExp[], words: string): number | undefined {
  for (const pattern of patterns) {
    const found = pattern.exec(words);
    const value = read(found?.[1] ?? "");
    if (value >= LEAST) return found?.[0].includes("(exclusive)") ? value - 1 : value;
  }
  return undefined;
}

function requestedIn(words: string): number {
  return read(new RegExp(String.raw`requested\D{0,12}${NUMBER}`, "i").exec(words)?.[1] ?? "");
}

function read(digits: string): number {
  return Number(digits.replaceAll(",", ""));
}
