/** What is true of a reading in a part of time, from its pieces. What is not known counts for nothing. */
import type { PastAsk } from "../protocol/past.ts";
import type { AskedState } from "./condition.ts";
import { joined, momentsIn, type Period, type Piece, piecesOf } from "./pieces.ts";
import { type Gap, isMoment, type KeptValue, type Sample, type SeriesInfo } from "./sample.ts";

/** Rows of an answer; more are left out, and it says how many. */
export const ROWS_MAX = 12;

/** At a time (epoch ms). */
export type PastMoment = { at: number; value: KeptValue };

/** What was found in a part of time; each question has some of them. */
export type PastFacts = {
  /** Of so many ms the value is known. */
  known_ms: number;
  count?: number;
  /** Ms in which it was so. */
  ms?: number;
  longest?: Period;
  /** `to`: null while it is so still, or its end was not seen. */
  last?: { at: number; value: KeptValue; to: number | null; is_over: boolean };
  min?: PastMoment;
  max?: PastMoment;
  mean?: number;
  first?: PastMoment;
  end?: PastMoment;
  change?: number;
  /** The newest ones, in their order. */
  list?: readonly PastMoment[];
  /** How many older ones are left out. */
  more?: number;
};

/** A value that held for less than a second is known all the same. */
export function isNothingKnown({ known_ms, count = 0, last }: PastFacts): boolean {
  return known_ms === 0 && count === 0 && last === undefined;
}

type Kept = { info: SeriesInfo; samples: readonly Sample[]; gaps: readonly Gap[] };

/** Meters only rise. One that falls to so little of what it had begins anew. */
const METERS = ["energy", "gas", "water", "volume"];
const RESET_SHARE = 0.1;

/** @param pieces of the period, where they are made already */
export function factsOf(
  ask: PastAsk,
  kept: Kept,
  period: Period,
  state: AskedState | undefined,
  pieces = piecesOf(kept, period, isMoment(kept.info)),
): PastFacts {
  const known_ms = sum(pieces.filter(({ value }) => value !== null));
  if (isMoment(kept.info)) return { known_ms, ...momentFacts(ask, momentsIn(kept.samples, period), state) };
  switch (ask) {
    case "last":
      return { known_ms, ...lastFacts(pieces, state) };
    case "list":
      return { known_ms, ...rows(changesOf(pieces, state)) };
    case "count":
    case "duration":
      return { known_ms, ...spanFacts(pieces, state) };
    case "min_max":
      return { known_ms, ...extremes(pieces) };
    case "mean":
      return { known_ms, ...meanOf(pieces) };
    case "change":
      return { known_ms, ...changeFacts(pieces, kept.info) };
    case "chart":
      return { known_ms, ...(isOfNumbers(pieces) ? meanOf(pieces) : spanFacts(pieces, state)) };
  }
}

/** A part of time in which it was so. `isBegun`: its beginning was seen. */
type Span = { from: number; to: number; value: KeptValue; isBegun: boolean; isEnded: boolean };

function spansOf(pieces: readonly Piece[], state: AskedState | undefined): Span[] {
  const kindOf = ({ value }: Piece) => (value === null ? null : state ? state.test(value) : value);
  const all = joined(pieces, (a, b) => kindOf(a) === kindOf(b));
  return all.flatMap((piece, at): Span[] => {
    if (piece.value === null || (state && !state.test(piece.value))) return [];
    const isKnown = (other: Piece | undefined) => other !== undefined && other.value !== null;
    const { from, to, value } = piece;
    return [{ from, to, value, isBegun: isKnown(all[at - 1]), isEnded: isKnown(all[at + 1]) }];
  });
}

function lastFacts(pieces: readonly Piece[], state: AskedState | undefined): Partial<PastFacts> {
  const span = spansOf(pieces, state).findLast(({ isBegun }) => isBegun);
  if (!span) return {};
  const { from: at, to, value, isEnded } = span;
  return { last: { at, value, to: isEnded ? to : null, is_over: to < (pieces.at(-1)?.to ?? to) } };
}

function spanFacts(pieces: readonly Piece[], state: AskedState | undefined): Partial<PastFacts> {
  const spans = spansOf(pieces, state);
  const count = spans.filter(({ isBegun }) => isBegun).length;
  if (!state) return { count };
  const longest = spans.toSorted((a, b) => b.to - b.from - (a.to - a.from))[0];
  const last = lastFacts(pieces, state);
  return {
    count,
    ms: sum(spans),
    ...(longest && { longest: { from: longest.from, to: longest.to } }),
    ...last,
  };
}

/** Where a value began, or the state that was asked for. */
function changesOf(pieces: readonly Piece[], state: AskedState | undefined): PastMoment[] {
  const begun = spansOf(pieces, state).filter(({ isBegun }) => isBegun);
  return begun.map(({ from, value }) => ({ at: from, value }));
}

function rows(all: readonly PastMoment[]): Partial<PastFacts> {
  const list = all.slice(-ROWS_MAX);
  return { count: all.length, list, ...(all.length > list.length && { more: all.length - list.length }) };
}

function momentFacts(
  ask: PastAsk,
  all: readonly PastMoment[],
  state: AskedState | undefined,
): Partial<PastFacts> {
  const meant = state ? all.filter(({ value }) => state.test(value)) : all;
  const newest = meant.at(-1);
  const last = newest && { last: { ...newest, to: newest.at, is_over: true } };
  if (ask === "list") return rows(meant);
  return ask === "last" ? { ...last } : { count: meant.length, ...last };
}

function isOfNumbers(pieces: readonly Piece[]): boolean {
  return pieces.some(({ value }) => typeof value === "number");
}

function extremes(pieces: readonly Piece[]): Partial<PastFacts> {
  let min: PastMoment | undefined;
  let max: PastMoment | undefined;
  for (const { from, value } of pieces) {
    if (typeof value !== "number") continue;
    if (!min || value < (min.value as number)) min = { at: from, value };
    if (!max || value > (max.value as number)) max = { at: from, value };
  }
  return min && max ? { min, max } : {};
}

/** By time: a value counts for as long as it held. */
function meanOf(pieces: readonly Piece[]): Partial<PastFacts> {
  let [weighted, ms] = [0, 0];
  for (const { from, to, value } of pieces) {
    if (typeof value !== "number") continue;
    weighted += value * (to - from);
    ms += to - from;
  }
  return ms > 0 ? { mean: weighted / ms, ...extremes(pieces) } : {};
}

function changeFacts(pieces: readonly Piece[], { class: of = "" }: SeriesInfo): Partial<PastFacts> {
  const known = pieces.flatMap(({ from, to, value }) =>
    typeof value === "number" ? [{ from, to, value }] : [],
  );
  const [first] = known;
  const end = known.at(-1);
  if (!first || !end) return {};
  let change = 0;
  let before = first.value;
  for (const { value } of known) {
    const isReset = METERS.includes(of) && value < before * RESET_SHARE;
    change += isReset ? value : value - before;
    before = value;
  }
  return { change, first: { at: first.from, value: first.value }, end: { at: end.from, value: end.value } };
}

function sum(spans: readonly Period[]): number {
  return spans.reduce((ms, { from, to }) => ms + to - from, 0);
}
