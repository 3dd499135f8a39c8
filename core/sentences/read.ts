/**
 * The reader: what a sentence means, by phrases of languages and the names of a home, without a model. Every word has a role, and the
 * roles make exactly one frame; else it says why not. It only reads: whether a device can do it is another one's question. Pure.
 */
import { nearWords } from "../agents/near-words.ts";
import { costs, covers, type Spans, STEPS_MAX, spansOf, unknownAt } from "./cover.ts";
import type { Frames, Meaning, Near, Reason, Understood } from "./frame.ts";
import type { Lexicon } from "./lexicon.ts";
import { FINAL, meaningOf, type SentenceContext } from "./meaning.ts";
import type { NameTable } from "./names.ts";
import { withPeriod } from "./past.ts";
import { headedFrame, headOf } from "./reminder.ts";
import type { Role } from "./roles.ts";
import { hasQuotation, isQuestion, type Word, wordsOf } from "./words.ts";

export const CHARS_MAX = 200;
const WORDS_MAX = 30;
/** Signs of a script without blanks. */
const SIGNS_MAX = 60;
/** Dearer covers than the cheapest one that are looked at where that means nothing. */
const DEARER_MAX = 4;
const NEAR_MAX = 3;

/**
 * @param text a person's newest words; never those of a device, a page or an agent
 * @param lexicons the conversation's last language first, then the home's, then others that are loaded
 */
export function readSentence(text: string, names: NameTable, lexicons: readonly Lexicon[]): Understood {
  const words = wordsIn(text);
  if (words.length === 0) return { result: "none", reason: { because: "empty" } };
  const read = readAll(text, words, names, lexicons);
  return read.result === "none" ? (withNear(read, text, words, names, lexicons) ?? read) : read;
}

function wordsIn(text: string): Word[] {
  return wordsOf(text).filter((word) => word.text !== "?" && word.text !== "？");
}

/** What one language makes of it. `unknown` is the place of a word that it does not know. */
type InLanguage = { lexicon: Lexicon } & (
  | { meanings: readonly Frames[] }
  | { refused: Reason; unknown?: number; count?: number }
);

type Read =
  | Exclude<Understood, { result: "none" }>
  | { result: "none"; lexicon?: Lexicon; reason: Reason; at?: number };

function readAll(text: string, words: readonly Word[], names: NameTable, lexicons: readonly Lexicon[]): Read {
  const tried = lexicons.map((lexicon) => inLanguage(text, words, names, lexicon));
  const meanings = new Map<string, Meaning>();
  for (const one of tried)
    for (const frames of "meanings" in one ? one.meanings : []) {
      const key = JSON.stringify(frames);
      if (!meanings.has(key)) meanings.set(key, { language: one.lexicon.language, frames });
    }
  const [first, ...others] = meanings.values();
  // A language that does not know each word has no say in what another one understood.
  const refusal = tried.find((one) => "refused" in one && !one.count && FINAL.has(one.refused.because));
  const acts = [...meanings.values()].some(({ frames }) => frames.some(({ kind }) => kind === "act"));
  if (first && !(refusal && acts))
    return others.length > 0
      ? { result: "several", meanings: [first, ...others] }
      : { result: "one", ...first };
  const best = refusal ?? leastUnknown(tried);
  if (best === undefined || !("refused" in best)) return { result: "none", reason: { because: "no_sense" } };
  return {
    result: "none",
    lexicon: best.lexicon,
    reason: best.refused,
    ...(best.unknown !== undefined && { at: best.unknown }),
  };
}

/** The language that knows most of the words says why. */
function leastUnknown(tried: readonly InLanguage[]): InLanguage | undefined {
  const unknown = (one: InLanguage) => ("count" in one ? (one.count ?? 0) : 0);
  return tried.toSorted((a, b) => unknown(a) - unknown(b))[0];
}

function inLanguage(text: string, words: readonly Word[], names: NameTable, lexicon: Lexicon): InLanguage {
  const refused = (reason: Reason): InLanguage => ({ lexicon, refused: reason });
  // A head stands among the first words, so a long text behind it costs nothing.
  const first = spansOf(words.slice(0, WORDS_MAX), lexicon, names);
  const head = headOf(first);
  if (head?.role === "model") {
    const frame = headedFrame(head, words, [], text);
    return frame ? { lexicon, meanings: [[frame]] } : refused({ because: "no_sense" });
  }
  const signs = words.filter((word) => word.to - word.from === 1).length;
  if (text.length > CHARS_MAX || words.length > SIGNS_MAX || words.length - signs > WORDS_MAX)
    return refused({ because: "too_long" });
  const spans = words.length > WORDS_MAX ? spansOf(words, lexicon, names) : first;
  if (head) {
    const frame = headedFrame(head, words, spans, text);
    if (frame) return { lexicon, meanings: [[frame]] };
  }
  if (hasQuotation(text)) return refused({ because: "quotation" });
  const least = costs(spans, words.length);
  const cost = least[0] ?? Number.POSITIVE_INFINITY;
  if (Number.isFinite(cost)) {
    const found = cheapest(text, words, spans, cost, least);
    return "meanings" in found ? { lexicon, meanings: found.meanings } : refused(found.refused);
  }
  const at = unknownAt(spans);
  const word = words[at];
  const count = spans.filter((span) => span.length === 0).length;
  const stopped = stoppedAct(spans, (from, to) => text.slice(words[from]?.from, words[to - 1]?.to));
  if (stopped) return { lexicon, refused: stopped, count };
  return {
    lexicon,
    refused: { because: "unknown_word", word: word ? text.slice(word.from, word.to) : "", near: [] },
    unknown: at,
    count: Math.max(1, count),
  };
}

const STOPS: ReadonlySet<string> = new Set(["negation", "exception", "condition", "when", "then", "delay"]);
const ACTS: ReadonlySet<Role> = new Set<Role>(["act", "do", "particle", "change"]);

/** "turn on the lamp unless it is foggy": the condition says more than the word that is not known. */
function stoppedAct(spans: Spans, said: (from: number, to: number) => string): Reason | undefined {
  let stop: Reason | undefined;
  let longest = 0;
  let acts = false;
  // "when" of "tell me when" is none.
  let watched = 0;
  for (const [from, at] of spans.entries())
    for (const { to, meanings } of at) {
      const [first] = meanings;
      if (first?.role === "watch") watched = Math.max(watched, to);
      acts ||= first !== undefined && ACTS.has(first.role);
      if (to <= watched || first?.role !== "stop" || !STOPS.has(first.value) || to - from <= longest)
        continue;
      longest = to - from;
      const word = said(from, to);
      if (first.value === "delay") stop = { because: "delay" };
      else if (first.value === "negation" || first.value === "exception")
        stop = { because: first.value, word };
      else stop = { because: "condition", word };
    }
  return acts ? stop : undefined;
}

/** The cheapest covers that mean something. Dearer ones do not count beside them. */
function cheapest(
  text: string,
  words: readonly Word[],
  spans: Spans,
  cost: number,
  least: readonly number[],
): { meanings: readonly Frames[] } | { refused: Reason } {
  const steps = { left: STEPS_MAX };
  const context: SentenceContext = {
    text,
    hasQuestionMark: isQuestion(text),
    saidIn: ({ at, to }) => text.slice(words[at]?.from ?? 0, words[(to ?? at + 1) - 1]?.to ?? 0),
  };
  let refused: Reason | undefined;
  for (let more = 0; more <= DEARER_MAX; more += 1) {
    const meanings = new Map<string, Frames>();
    let final: Reason | undefined;
    const rules = new Map<string, Reason>();
    covers(spans, [0, words.length], cost + more, least, steps, (items) => {
      const built = meaningOf(items, context);
      if (built === undefined) return;
      if ("refused" in built) {
        // "in 10 minutes" and "after" may be one word; the time is what a reminder could take.
        if ("rule" in built.refused) rules.set(JSON.stringify(built.refused.rule), built.refused);
        const isMore =
          "when" in built.refused || (isPlainDelay(final) && built.refused.because === "condition");
        if (FINAL.has(built.refused.because) && (final === undefined || isMore)) final = built.refused;
        refused ??= built.refused;
      } else for (const frames of built.meanings) meanings.set(JSON.stringify(frames), frames);
    });
    // Others of the same cost may be among those that were not tried.
    if (steps.left <= 0) return { refused: { because: "too_long" } };
    const acts = [...meanings.values()].some((frames) => frames.some(({ kind }) => kind === "act"));
    const [rule, otherRule] = rules.values();
    if (rule && !otherRule && final?.because === "condition") final = rule;
    if (final && (acts || meanings.size === 0)) return { refused: final };
    if (meanings.size > 0) return { meanings: withPeriod([...meanings.values()]) };
    // "switch off the bedroom" is no switch that goes off, and "灯开着" says that it is on.
    if (refused?.because === "no_target" || refused?.because === "no_action") return { refused };
  }
  return { refused: refused ?? { because: "no_sense" } };
}

/** "for 10 minutes" beside an act. Where it may be a condition's, the condition says more. */
function isPlainDelay(reason: Reason | undefined): boolean {
  return reason?.because === "delay" && !("when" in reason);
}

/** One slip of a letter is forgiven in a question, where one word alone is near. Else sentences that are understood are offered. */
function withNear(
  read: Extract<Read, { result: "none" }>,
  text: string,
  words: readonly Word[],
  names: NameTable,
  lexicons: readonly Lexicon[],
): Understood | undefined {
  const { lexicon, at, reason } = read;
  const answer: Understood = { result: "none", ...(lexicon && { language: lexicon.language }), reason };
  const word = at === undefined ? undefined : words[at];
  if (!lexicon || !word || reason.because !== "unknown_word") return answer;
  const near = mended(text, read, { names, lexicons, left: MENDED_MAX }, SLIPS_MAX);
  const [only, other] = near;
  if (
    only &&
    !other &&
    only.isSure &&
    only.read.result === "one" &&
    only.read.frames.every(({ kind }) => kind === "ask")
  )
    return { ...only.read, slip: { said: text.slice(word.from, word.to), taken: only.word } };
  const offered = near.slice(0, NEAR_MAX).map(({ word, whole }): Near => ({ word, whole }));
  return { ...answer, reason: { ...reason, near: offered } };
}

/** Words of a sentence that are mended at once, and sentences that are read for it. */
const SLIPS_MAX = 3;
const MENDED_MAX = 30;
/** A shorter word is only offered. */
const OFFERED_LETTERS = 3;

type Mended = Near & {
  read: Exclude<Understood, { result: "none" }>;
  slips: number;
  /** One word alone was near. */
  isSure: boolean;
};

/** @returns the sentence with near words in place of unknown ones, where that is understood; those with the fewest first */
function mended(
  text: string,
  { lexicon, at, reason }: Extract<Read, { result: "none" }>,
  context: { names: NameTable; lexicons: readonly Lexicon[]; left: number },
  slips: number,
): Mended[] {
  if (!lexicon || at === undefined || reason.because !== "unknown_word" || slips === 0) return [];
  const { names, lexicons } = context;
  const found: Mended[] = [];
  // "Root" of "root dsik" is a word of a phrase, which its neighbour breaks.
  for (const word of wordsIn(text).slice(at, at + 2)) {
    const [candidates, isSure] = candidatesFor(word.text, lexicon, names);
    for (const candidate of candidates.slice(0, NEAR_MAX * 3)) {
      if (context.left <= 0) break;
      context.left -= 1;
      const whole = text.slice(0, word.from) + candidate + text.slice(word.to);
      const read = readAll(whole, wordsIn(whole), names, lexicons);
      if (read.result !== "none") found.push({ word: candidate, whole, read, slips: 1, isSure });
      else
        for (const one of mended(whole, read, context, slips - 1))
          found.push({ ...one, word: candidate, slips: one.slips + 1, isSure: false });
    }
  }
  const nearest = found.sort((a, b) => a.slips - b.slips);
  return nearest.filter(({ whole }, at) => nearest.findIndex((one) => one.whole === whole) === at);
}

/** @returns none for a word that is known. `isSure`: it is one, and near to a long word */
function candidatesFor(word: string, lexicon: Lexicon, names: NameTable): [string[], isSure: boolean] {
  const nearTo = (letters?: number) => [
    ...new Set([
      ...nearWords(word, lexicon.vocabulary(), letters),
      ...nearWords(word, names.words(), letters),
    ]),
  ];
  const near = nearTo();
  const candidates = near.length > 0 ? near : nearTo(OFFERED_LETTERS);
  return candidates.includes(word) ? [[], false] : [candidates, near.length === 1];
}
