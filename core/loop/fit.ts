/**
 * Shortens a history until it fits the model. Old tool results are cut first; then whole old turns are left out and a note
 * replaces them. The current turn and the texts of the first entries stay unchanged, unless the model takes no more. Pure.
 *
 * An entry holds its calls together with their results, so no call ever loses its result.
 */
import { mediaText } from "../protocol/media.ts";
import { fitCurrent } from "./fit-current.ts";
import type { Call, Entry, LeftOut, Note, Summary } from "./history.ts";
import { codePoints, estimateTokens, headOf } from "./tokens.ts";

/** Characters kept of an old result: its beginning shows what it was. */
const CUT_RESULT_TO = 200;
/** Characters that the notice takes, roughly. Cutting a result that is hardly longer than its head saves nothing. */
const NOTICE_ROOM = 30;
/**
 * A history over the limit is cut to this share of it, so that it can grow for some turns before the next cut. Cutting at
 * every step would cost a summary each time, and a prompt that the provider has not cached.
 */
const DOWN_TO = 0.7;
/** A small window would hold only a few turns, and a local model takes long for a summary. */
const DOWN_TO_IN_WINDOW = 0.5;
/**
 * The current turn alone may exceed the limit. Old turns then keep this share of the limit: with no room at all, every turn
 * would leave out the turn before it and pay for a summary.
 */
const BESIDE_TOO_LARGE = 0.1;
/** A summary's tokens. With less room for old turns, each turn would pay for a summary that does not fit either. */
const SUMMARY_ROOM = 600;

export type FitOptions = {
  /** The limit for the entries alone; the caller has subtracted the system prompt and the tool definitions. */
  maxTokens: number;
  /** What the model takes at most. Above it the first entries' texts and the current turn's results are cut too. */
  hardTokens?: number;
  /** Number of first entries whose texts are kept; their results are the first to be cut. */
  keepFirst: number;
  /** Index of the current turn's first entry; absent = the first entry after the last answer. */
  currentFrom?: number;
  /** An earlier summary; it replaces the oldest `turns` turns after the kept entries. */
  summary?: Summary;
};

export type Fitted = {
  entries: Entry[];
  /** Number of results that were cut, and of turns left out in total. */
  cut: { results: number; turns: number };
  /** Index in the given history of the first entry after the note. */
  shownFrom: number;
  /**
   * Entries that are left out and not yet summarised, after the earlier summary if there is one. Once a model has
   * summarised them (summaryPrompt), pass the text as `summary: {text, turns: cut.turns}` from then on.
   */
  toSummarise?: Entry[];
};

/** @param history the whole stored history, or the result of an earlier fit */
export function fitHistory(history: readonly Entry[], options: FitOptions): Fitted {
  const { maxTokens, keepFirst, currentFrom = currentTurnStart(history) } = options;
  const { hardTokens = Number.POSITIVE_INFINITY } = options;
  const kept = Math.min(keepFirst, currentFrom);
  const whole = history.slice(0, kept);
  const shortest = whole.map(withCutResults).map(withCutText);
  // The note in place of old turns needs room too.
  const mostFixed = hardTokens - noteSize(currentFrom > 0 ? { turns: currentFrom } : undefined);
  const current = fitCurrent(history.slice(currentFrom), mostFixed - estimateTokens(shortest));
  const currentSize = estimateTokens(current);
  const fits = estimateTokens(history.slice(0, currentFrom)) + currentSize <= maxTokens;
  let first = fits ? whole : whole.map(withCutResults);
  if (estimateTokens(first) + currentSize > mostFixed) first = shortest;
  const fixed = estimateTokens(first) + currentSize;
  const limit = Math.min(hardTokens, fixed > maxTokens ? fixed + maxTokens * BESIDE_TOO_LARGE : maxTokens);

  let { leftOut, old } = withSummary(oldTurns(history.slice(kept, currentFrom)), options.summary);
  let gone: OldTurn[] = [];
  if (fixed + sizeOf(old, leftOut) > limit) old = old.map(withoutAnswersThoughts);
  if (fixed + sizeOf(old, leftOut) > limit) {
    const downTo = limit < hardTokens ? DOWN_TO : DOWN_TO_IN_WINDOW;
    const target = Math.max(Math.min(maxTokens, limit) * downTo, fixed + (limit - fixed) * downTo) - fixed;
    old = cutResults(old, sizeOf(old, leftOut) - target);
    if (fixed + sizeOf(old, leftOut) > limit) ({ leftOut, old, gone } = leaveOut(old, leftOut, target));
  }

  const place = leftOut ? [leftOutNote(leftOut)] : [];
  const entries = [...first, ...place, ...old.flatMap((turn) => turn.entries), ...current];
  const results = old.reduce((sum, turn) => sum + turn.results, fits ? 0 : longResultsIn(whole));
  const cut = { results, turns: leftOut?.turns ?? 0 };
  const shownFrom = currentFrom - old.reduce((sum, turn) => sum + turn.entries.length, 0);
  const hasRoom = limit < hardTokens || limit - fixed >= SUMMARY_ROOM;
  if (gone.length === 0 || !hasRoom) return { entries, cut, shownFrom };
  const earlier = leftOut?.summary ? [summaryNote(leftOut.summary)] : [];
  return { entries, cut, shownFrom, toSummarise: [...earlier, ...gone.flatMap((turn) => turn.whole)] };
}

/** A past turn, or a note that replaces several. */
type OldTurn = {
  whole: readonly Entry[];
  /** The same entries, with results cut where needed. */
  entries: readonly Entry[];
  results: number;
  leftOut: LeftOut | undefined;
};
type Old = { leftOut: LeftOut | undefined; old: OldTurn[] };

function currentTurnStart(history: readonly Entry[]): number {
  const start = history.findLastIndex((entry, index) => {
    const before = history[index - 1];
    return leftOutOf(before) !== undefined || (entry.role !== "assistant" && isAnswer(before));
  });
  return Math.max(0, start);
}

function oldTurns(entries: readonly Entry[]): OldTurn[] {
  const turns: Entry[][] = [];
  for (const [index, entry] of entries.entries()) {
    const before = entries[index - 1];
    const begins =
      entry.role === "user" ||
      leftOutOf(entry) !== undefined ||
      leftOutOf(before) !== undefined ||
      (entry.role === "note" && isAnswer(before));
    const turn = turns.at(-1);
    if (begins || !turn) turns.push([entry]);
    else turn.push(entry);
  }
  return turns.map((whole) => ({ whole, entries: whole, results: 0, leftOut: leftOutOf(whole[0]) }));
}

/** The thoughts behind an old turn's answer go first: endpoints insist only on those with calls. */
function withoutAnswersThoughts(turn: OldTurn): OldTurn {
  const entries = turn.entries.map((entry) => {
    if (entry.role !== "assistant" || entry.calls.length > 0 || !entry.replay) return entry;
    const { replay: _, ...answer } = entry;
    return answer;
  });
  return { ...turn, entries };
}

function isAnswer(entry: Entry | undefined): boolean {
  return entry?.role === "assistant" && entry.calls.length === 0;
}

function leftOutOf(entry: Entry | undefined): LeftOut | undefined {
  return entry?.role === "note" ? entry.leftOut : undefined;
}

/** Removes the note of an earlier fit, and replaces the turns that the summary covers by it. */
function withSummary(turns: OldTurn[], summary: Summary | undefined): Old {
  const [begin, ...rest] = turns;
  const before: Old = begin?.leftOut
    ? { leftOut: begin.leftOut, old: rest }
    : { leftOut: undefined, old: turns };
  if (!summary) return before;
  let covered = before.leftOut?.turns ?? 0;
  let used = 0;
  for (; covered < summary.turns && used < before.old.length; used += 1) covered += turnsIn(before.old[used]);
  // A summary that does not end at a turn's end belongs to another history.
  if (covered !== summary.turns) return before;
  return { leftOut: { turns: covered, summary }, old: before.old.slice(used) };
}

function turnsIn(turn: OldTurn | undefined): number {
  return turn?.leftOut?.turns ?? 1;
}

function sizeOf(old: readonly OldTurn[], leftOut: LeftOut | undefined): number {
  return old.reduce((sum, turn) => sum + estimateTokens(turn.entries), noteSize(leftOut));
}

function noteSize(leftOut: LeftOut | undefined): number {
  return leftOut ? estimateTokens([leftOutNote(leftOut)]) : 0;
}

/** Cuts results, oldest turns first, until `tokens` are saved or no result is left to cut. */
function cutResults(old: readonly OldTurn[], tokens: number): OldTurn[] {
  let toSave = tokens;
  return old.map((turn) => {
    let results = turn.results;
    const entries = turn.entries.map((entry) => {
      const long = longResultsIn([entry]);
      if (toSave <= 0 || long === 0) return entry;
      const cut = withCutResults(entry);
      results += long;
      toSave -= estimateTokens([entry]) - estimateTokens([cut]);
      return cut;
    });
    return { ...turn, entries, results };
  });
}

function longResultsIn(entries: readonly Entry[]): number {
  return entries.flatMap((entry) => (entry.role === "assistant" ? entry.calls.filter(isLong) : [])).length;
}

function withCutResults(entry: Entry): Entry {
  return longResultsIn([entry]) === 0 || entry.role !== "assistant"
    ? entry
    : { ...entry, calls: entry.calls.map(withCutResult) };
}

/** Whether cutting the result saves anything: it has a long text, or pictures. */
function isLong(call: Call): boolean {
  return hasLongText(call) || (call.outcome?.media?.length ?? 0) > 0;
}

function hasLongText(call: Call): boolean {
  return codePoints(call.outcome?.text ?? "") > CUT_RESULT_TO + NOTICE_ROOM;
}

function withCutResult(call: Call): Call {
  if (!call.outcome || !isLong(call)) return call;
  const { media = [], ...outcome } = call.outcome;
  const { text } = outcome;
  const shorter = hasLongText(call)
    ? `${headOf(text, CUT_RESULT_TO)}[cut: ${codePoints(text) - CUT_RESULT_TO} characters]`
    : text;
  // The picture's name stays, so that a person can still ask for it.
  const names = media.map((item) => `\n${mediaText(item)}`).join("");
  return { ...call, outcome: { ...outcome, text: `${shorter}${names}` } };
}

function withCutText(entry: Entry): Entry {
  const more = codePoints(entry.text) - CUT_RESULT_TO;
  if (more <= NOTICE_ROOM) return entry;
  return { ...entry, text: `${headOf(entry.text, CUT_RESULT_TO)}[cut: ${more} characters]` };
}

/** Leaves turns out, oldest first, until the rest is at most `target` tokens or no old turn is left. */
function leaveOut(
  turns: readonly OldTurn[],
  before: LeftOut | undefined,
  target: number,
): Old & { gone: OldTurn[] } {
  const old = [...turns];
  const gone: OldTurn[] = [];
  let leftOut = before;
  let size = sizeOf(old, undefined);
  while (size + noteSize(leftOut) > target) {
    const turn = old.shift();
    if (!turn) break;
    gone.push(turn);
    size -= estimateTokens(turn.entries);
    leftOut = { ...leftOut, turns: (leftOut?.turns ?? 0) + turnsIn(turn) };
  }
  return { leftOut, old, gone };
}

/** Returns the note that replaces the turns left out. */
export function leftOutNote(leftOut: LeftOut): Note {
  const { turns, summary } = leftOut;
  const since = turns - (summary?.turns ?? 0);
  const words = since > 0 ? `${turnsText(since)} of this conversation left out here.` : "";
  const text = [summary ? summaryText(summary) : "", words].filter((part) => part !== "").join("\n");
  return { role: "note", text, leftOut };
}

function summaryNote(summary: Summary): Note {
  return { role: "note", text: summaryText(summary), leftOut: { turns: summary.turns, summary } };
}

function summaryText({ text, turns }: Summary): string {
  return `${turnsText(turns)} summed up:\n${text}`;
}

function turnsText(turns: number): string {
  return turns === 1 ? "1 earlier turn" : `${turns} earlier turns`;
}
