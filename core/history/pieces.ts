/** Puts what was kept of a reading on a line of time: what its value was, and of which parts nothing is known. */
import type { Gap, KeptValue, Sample, StateAbout, Stretch, UnknownCause } from "./sample.ts";

const HOUR_MS = 3_600_000;
const HOURS_A_DAY = 24;
/** A drawing has so many columns, in each of which several states are seen side by side. */
const DRAWN_COLUMNS = 700;
/** Hours whose states are drawn together. */
const HOUR_STEPS = [1, 2, 3, 4, 6, 8, 12, 24];

/** Epoch ms; `to` is not in it. */
export type Period = { from: number; to: number };

/** From `from` up to, and without, `to`. null: nothing is known, for the reason `why`. */
export type Piece = KnownPiece | UnknownPiece;
/** @property stretch several values, of which `value` is the first */
type KnownPiece = { from: number; to: number; value: KeptValue; why?: never; stretch?: Stretch };
type UnknownPiece = { from: number; to: number; value: null; why: UnknownCause; stretch?: never };

/** @property before what ends with it */
type Change = { at: number; value: KeptValue | null; why: UnknownCause; before?: Stretch | undefined };

/**
 * @param samples in the order of their times; earlier and later ones may be among them
 * @param isMoment values hold for no time: what is known is that nothing else happened
 */
export function piecesOf(
  { samples, gaps }: { samples: readonly Sample[]; gaps: readonly Gap[] },
  { from, to }: Period,
  isMoment = false,
): Piece[] {
  const pieces: Piece[] = [];
  // Of a moment nothing is missing before the first one.
  let now: Change = { at: Number.NEGATIVE_INFINITY, value: isMoment ? false : null, why: "none" };
  let since = from;
  for (const change of changesOf(samplesIn(samples, { from, to }), gaps, isMoment)) {
    if (change.at >= to) break;
    const { before } = change;
    if (before && (before.to > from || before.from === from)) {
      if (before.from > from) pieces.push(pieceOf(now, since, before.from));
      pieces.push({ from: before.from, to: before.to, value: before.first, stretch: before });
      since = change.at;
      now = change;
      continue;
    }
    // A value that held for no time is a piece too, also where the period begins: a door that was opened and shut at once was opened.
    if (change.at > from || (now.at === from && now.value !== null)) {
      pieces.push(pieceOf(now, since, change.at));
      since = change.at;
    }
    now = change;
  }
  if (since < to) pieces.push(pieceOf(now, since, to));
  return pieces;
}

function pieceOf({ value, why }: Pick<Change, "value" | "why">, from: number, to: number): Piece {
  return value === null ? { from, to, value, why } : { from, to, value };
}

/** Values within a gap are not known to be right, and at its end nothing is known until the next value comes. */
function* changesOf(
  samples: readonly Sample[],
  gaps: readonly Gap[],
  isMoment: boolean,
): Generator<Change, void> {
  let next = 0;
  let until = Number.NEGATIVE_INFINITY;
  let last = Number.NEGATIVE_INFINITY;
  function* gapsBefore(before: number): Generator<Change, void> {
    for (let gap = gaps[next]; gap && gap.from < before; gap = gaps[next]) {
      last = Math.max(gap.from, last);
      yield { at: last, value: null, why: gap.why };
      until = Math.max(until, gap.to);
      next += 1;
      const following = gaps[next];
      if (isMoment && !(following && following.from <= until)) {
        last = until;
        yield { at: until, value: false, why: "none" };
      }
    }
  }
  for (const { at, value, stretch } of samples) {
    if ((gaps[next]?.from ?? at) < at) yield* gapsBefore(at);
    if (at < until) continue;
    last = at;
    // Nothing is told by moments but that all is known since the first one.
    if (isMoment && stretch) yield { at: stretch.from, value: false, why: "away" };
    const before = isMoment ? undefined : stretch;
    yield { at, value: isMoment && value !== null ? false : value, why: "away", before };
  }
  yield* gapsBefore(Number.POSITIVE_INFINITY);
}

/** As they are drawn: of a stretch its first and last value, and the lowest and highest one between them, or its states. */
export function drawnPieces(pieces: readonly Piece[], { from, to }: Period): Piece[] {
  const wide = (to - from) / DRAWN_COLUMNS;
  const hours = HOUR_STEPS.findLast((step) => step * HOUR_MS <= wide) ?? 1;
  return pieces.flatMap((piece): Piece[] => {
    const { stretch, to } = piece;
    if (stretch?.about.of === "states") return drawnStates(stretch, stretch.about.states, hours * HOUR_MS);
    if (stretch?.about.of !== "numbers") return [piece];
    const { min, max } = stretch.about;
    const points = [
      { at: stretch.from, value: stretch.first },
      ...[min, max].sort((a, b) => a.at - b.at),
      { at: stretch.endFrom, value: stretch.end },
    ];
    return points.map(({ at, value }, nth) => ({ from: at, to: points[nth + 1]?.at ?? to, value }));
  });
}

/** Between the first and the last value, states that came in the same hours share these by how long they held in all. */
function drawnStates(stretch: Stretch, states: readonly StateAbout[], stepMs: number): Piece[] {
  const { from, to, first, end, endFrom, about } = stretch;
  const firstTo = about.of === "states" ? about.firstTo : from;
  const drawn: Piece[] = [{ from, to: firstTo, value: first }];
  let at = firstTo;
  // Once also where no time is between them: states that held for none are drawn too.
  do {
    const until = Math.min(Math.floor(at / stepMs) * stepMs + stepMs, endFrom);
    const seen = states.filter((state) => wasIn(state, at, Math.max(until, at + 1)));
    const [wide, ms] = [until - at, seen.reduce((sum, state) => sum + state.ms, 0)];
    for (const [nth, { value, ms: own }] of seen.entries()) {
      const share = ms > 0 ? own / ms : 1 / seen.length;
      const next = nth === seen.length - 1 ? until : at + Math.round(share * wide);
      drawn.push({ from: at, to: Math.min(next, until), value });
      at = Math.min(next, until);
    }
    at = until;
  } while (at < endFrom);
  drawn.push({ from: endFrom, to, value: end });
  return joined(drawn, (a, b) => a.value === b.value);
}

function wasIn({ longest, last, hours }: StateAbout, from: number, to: number): boolean {
  if (hours === undefined) return [longest, last].some((span) => span && span.from < to && span.to > from);
  for (let hour = Math.floor(from / HOUR_MS); hour * HOUR_MS < to; hour += 1)
    if ((hours >> (hour % HOURS_A_DAY)) % 2 !== 0) return true;
  return false;
}

/** Moments that are known to have happened there. @property count so many of this value, of which `at` is the last one's */
export function momentsIn(
  samples: readonly Sample[],
  { from, to }: Period,
): { at: number; value: KeptValue; count: number }[] {
  return samples.flatMap(({ at, value, stretch }) => {
    if (at < from || at >= to) return [];
    const before = stretch?.about.of === "moments" ? stretch.about.values : [];
    const all = before.map((one) => ({ at: one.last, value: one.value, count: one.count }));
    all.sort((a, b) => a.at - b.at);
    return value === null ? all : [...all, { at, value, count: 1 }];
  });
}

/** Those that tell of a part of time: the first one that held at its beginning, and those within it. A year has a hundred thousand. */
function samplesIn(samples: readonly Sample[], { from, to }: Period): readonly Sample[] {
  const before = countWhile(samples, ({ at }) => at < from);
  const held = samples[before]?.at === from ? before : before - 1;
  const end = countWhile(samples, ({ at }) => at < to);
  return samples.slice(Math.max(0, held), end);
}

/** @param isBefore true of the first ones, and then of none */
function countWhile(samples: readonly Sample[], isBefore: (sample: Sample) => boolean): number {
  let [low, high] = [0, samples.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    const sample = samples[middle];
    if (sample && isBefore(sample)) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Parts of a line that follow each other and are of one kind, as one. */
export function joined(pieces: readonly Piece[], isAlike: (a: Piece, b: Piece) => boolean): Piece[] {
  const all: Piece[] = [];
  let last: Piece | undefined;
  for (const piece of pieces) {
    if (last && last.to === piece.from && isAlike(last, piece)) {
      last.to = piece.to;
      continue;
    }
    last = { ...piece };
    all.push(last);
  }
  return all;
}
