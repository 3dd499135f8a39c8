/** What is true of a reading in a part of time, from its pieces. What is not known counts for nothing. */
import type { PastAsk } from "../protocol/past.ts";
import type { AskedState } from "./condition.ts";
import { joined, momentsIn, type Period, type Piece, piecesOf } from "./pieces.ts";
import {
  type Gap,
  isMoment,
  type KeptValue,
  type Room,
  type Sample,
  type SeriesInfo,
  type StateAbout,
  type Stretch,
} from "./sample.ts";
import { isReset } from "./stretch.ts";

/** Rows of an answer; more are left out, and it says how many. */
export const ROWS_MAX = 12;

/** A drawing of so long has a few points of a day: those that a stretch knows. */
const LONG_CHART_MS = 60 * 86_400_000;

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

/** They only rise. */
const METERS = ["energy", "gas", "water", "volume"];

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
      return { known_ms, ...changesOf(pieces, state) };
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
type Span = {
  from: number;
  to: number;
  value: KeptValue;
  isBegun: boolean;
  isEnded: boolean;
  /** Spans that begin and end within it, in place of itself. */
  inner?: Inner | undefined;
};
type Inner = Omit<StateAbout, "value">;

function spansOf(pieces: readonly Piece[], state: AskedState | undefined): Span[] {
  const kindOf = ({ value }: Piece) => (value === null ? null : state ? state.test(value) : value);
  const parts = pieces.flatMap((piece): Part[] => (piece.stretch ? partsOf(piece.stretch, state) : [piece]));
  const all: Part[] = joined(parts, (a: Part, b: Part) => !a.inner && !b.inner && kindOf(a) === kindOf(b));
  return all.flatMap((piece, at): Span[] => {
    const { from, to, value, inner } = piece;
    if (value === null) return [];
    if (inner) return [{ from, to, value, isBegun: false, isEnded: false, inner }];
    if (state && !state.test(value)) return [];
    const isKnown = (other: Piece | undefined) => other !== undefined && other.value !== null;
    return [{ from, to, value, isBegun: isKnown(all[at - 1]), isEnded: isKnown(all[at + 1]) }];
  });
}

type Part = Piece & { inner?: Inner };

/** Its first span, its last one, which go on in what is beside them, and those between. */
function partsOf(stretch: Stretch, state: AskedState | undefined): Part[] {
  const { from, to, first } = stretch;
  const { end, endFrom, about, spans } = (state && roomIn(stretch, state)?.line) ?? stretch;
  const found = state && stateIn(stretch, state);
  if (spans === 1 || typeof found === "boolean") return [{ from, to, value: first }];
  const firstTo = about.of === "states" ? about.firstTo : from;
  const between = { from: firstTo, to: endFrom, value: found?.value ?? first };
  return [
    { from, to: firstTo, value: first },
    { ...between, inner: found ?? { count: spans - 2, ms: 0 } },
    { from: endFrom, to, value: end },
  ];
}

/** The room between its numbers on one side of which it is so, and on the other one not. */
function roomIn({ about }: Stretch, { testAll }: AskedState): Room | undefined {
  if (about.of !== "numbers" || !testAll) return undefined;
  return about.rooms?.find(({ low, high }) => {
    const [below, above] = [testAll(about.min.value, low), testAll(high, about.max.value)];
    return below !== undefined && above !== undefined && below !== above;
  });
}

/** @returns whether it is so in all of it; what is known of the state in it; undefined: its values have to be read */
function stateIn(stretch: Stretch, state: AskedState): boolean | StateAbout | undefined {
  const { test, testAll } = state;
  const { about } = stretch;
  if (about.of === "moments") return undefined;
  if (about.of === "numbers") {
    const [low, high] = [about.min.value, about.max.value];
    const isAll = testAll ? testAll(low, high) : low === high ? test(low) : undefined;
    return isAll ?? roomIn(stretch, state)?.line.about.states.find(({ value }) => test(value));
  }
  const meant = about.states.filter(({ value }) => test(value));
  if (meant.length === 0 || meant.length === about.states.length) return meant.length > 0;
  return meant.length === 1 ? meant[0] : undefined;
}

/**
 * @param period that is asked about
 * @returns whether a question can be answered without the values of a stretch
 */
export function isEnough(
  stretch: Stretch,
  ask: PastAsk,
  state: AskedState | undefined,
  { from, to }: Period,
): boolean {
  if (ask === "chart" && (to - from < LONG_CHART_MS || !canDraw(stretch))) return false;
  if (ask === "chart" && stretch.about.of === "numbers") return true;
  if (ask === "min_max" || ask === "mean" || ask === "change" || state === undefined) return true;
  return stretch.about.of === "moments" || stateIn(stretch, state) !== undefined;
}

/** @returns whether it is known where each state was, to the hour; numbers are drawn by their extremes */
function canDraw({ about }: Stretch): boolean {
  if (about.of !== "states") return about.of === "numbers";
  return about.states.every(({ count, hours }) => count < 2 || hours !== undefined);
}

function lastFacts(pieces: readonly Piece[], state: AskedState | undefined): Partial<PastFacts> {
  const span = spansOf(pieces, state).findLast(({ isBegun, inner }) => isBegun || inner?.last);
  if (!span) return {};
  const { value } = span;
  const { from: at, to, isEnded } = span.inner?.last ? { ...span.inner.last, isEnded: true } : span;
  return { last: { at, value, to: isEnded ? to : null, is_over: to < (pieces.at(-1)?.to ?? to) } };
}

function spanFacts(pieces: readonly Piece[], state: AskedState | undefined): Partial<PastFacts> {
  const spans = spansOf(pieces, state);
  const count = countOf(spans);
  if (!state) return { count };
  const whole = spans.flatMap((span): Period[] => {
    if (!span.inner) return [span];
    return span.inner.longest ? [span.inner.longest] : [];
  });
  const longest = whole.toSorted((a, b) => b.to - b.from - (a.to - a.from))[0];
  const last = lastFacts(pieces, state);
  return {
    count,
    ms: spans.reduce((ms, { from, to, inner }) => ms + (inner ? inner.ms : to - from), 0),
    ...(longest && { longest: { from: longest.from, to: longest.to } }),
    ...last,
  };
}

function countOf(spans: readonly Span[]): number {
  return spans.reduce((count, { isBegun, inner }) => count + (inner ? inner.count : isBegun ? 1 : 0), 0);
}

/** Rows of a list that a stretch has at the least. */
export function rowsIn(stretch: Stretch, state: AskedState | undefined): number {
  if (stretch.about.of !== "moments") return countOf(spansOf([pieceOf(stretch)], state));
  return stretch.about.values.reduce(
    (sum, { value, count }) => sum + (!state || state.test(value) ? count : 0),
    0,
  );
}

function pieceOf(stretch: Stretch): Piece {
  return { from: stretch.from, to: stretch.to, value: stretch.first, stretch };
}

/** Where a value began, or the state that was asked for. */
function changesOf(pieces: readonly Piece[], state: AskedState | undefined): Partial<PastFacts> {
  const spans = spansOf(pieces, state);
  const begun = spans.filter(({ isBegun }) => isBegun);
  return rows(
    begun.map(({ from, value }) => ({ at: from, value })),
    countOf(spans),
  );
}

/** @param all the newest ones at least @param count of how many */
function rows(all: readonly PastMoment[], count: number): Partial<PastFacts> {
  const list = all.slice(-ROWS_MAX);
  return { count, list, ...(count > list.length && { more: count - list.length }) };
}

function momentFacts(
  ask: PastAsk,
  all: readonly (PastMoment & { count: number })[],
  state: AskedState | undefined,
): Partial<PastFacts> {
  const meant = state ? all.filter(({ value }) => state.test(value)) : all;
  const count = meant.reduce((sum, one) => sum + one.count, 0);
  const moments = meant.map(({ at, value }) => ({ at, value }));
  const newest = moments.at(-1);
  const last = newest && { last: { ...newest, to: newest.at, is_over: true } };
  if (ask === "list") return rows(moments, count);
  return ask === "last" ? { ...last } : { count, ...last };
}

function isOfNumbers(pieces: readonly Piece[]): boolean {
  return pieces.some(({ value }) => typeof value === "number");
}

function extremes(pieces: readonly Piece[]): Partial<PastFacts> {
  let min: PastMoment | undefined;
  let max: PastMoment | undefined;
  for (const { from, value, stretch } of pieces) {
    if (typeof value !== "number") continue;
    const about = stretch?.about.of === "numbers" ? stretch.about : undefined;
    const [low, high] = [about?.min ?? { at: from, value }, about?.max ?? { at: from, value }];
    if (!min || low.value < (min.value as number)) min = low;
    if (!max || high.value > (max.value as number)) max = high;
  }
  return min && max ? { min, max } : {};
}

/** By time: a value counts for as long as it held. */
function meanOf(pieces: readonly Piece[]): Partial<PastFacts> {
  let [weighted, ms] = [0, 0];
  for (const { from, to, value, stretch } of pieces) {
    if (typeof value !== "number") continue;
    weighted += stretch?.about.of === "numbers" ? stretch.about.weighted : value * (to - from);
    ms += to - from;
  }
  return ms > 0 ? { mean: weighted / ms, ...extremes(pieces) } : {};
}

function changeFacts(pieces: readonly Piece[], { class: of = "" }: SeriesInfo): Partial<PastFacts> {
  const isMeter = METERS.includes(of);
  const known = pieces.flatMap(({ from, to, value, stretch }) =>
    typeof value === "number" ? [{ from, to, value, stretch }] : [],
  );
  const [first] = known;
  if (!first) return {};
  let change = 0;
  /** Since when the last number holds, and until when it is known. */
  let [end, until] = [{ at: first.from, value: first.value }, first.from];
  for (const { from, to, value, stretch } of known) {
    change += isMeter && isReset(end.value, value) ? value : value - end.value;
    // The same number once more goes on.
    if (value !== end.value || from !== until) end = { at: from, value };
    until = to;
    if (stretch?.about.of !== "numbers" || typeof stretch.end !== "number") continue;
    change += stretch.end - value + (isMeter ? stretch.about.lifts : 0);
    if (stretch.spans > 1) end = { at: stretch.endFrom, value: stretch.end };
  }
  return { change, first: { at: first.from, value: first.value }, end };
}

function sum(spans: readonly Period[]): number {
  return spans.reduce((ms, { from, to }) => ms + to - from, 0);
}
