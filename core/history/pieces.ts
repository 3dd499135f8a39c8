/** Puts what was kept of a reading on a line of time: what its value was, and of which parts nothing is known. */
import type { Gap, KeptValue, Sample, Stretch, UnknownCause } from "./sample.ts";

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
  let now: Pick<Change, "value" | "why"> = { value: isMoment ? false : null, why: "none" };
  let since = from;
  for (const change of changesOf(samplesIn(samples, { from, to }), gaps, isMoment)) {
    if (change.at >= to) break;
    const { before } = change;
    if (before && before.to > from) {
      if (before.from > from) pieces.push(pieceOf(now, since, before.from));
      pieces.push({ from: before.from, to: before.to, value: before.first, stretch: before });
      since = change.at;
      now = change;
      continue;
    }
    // One that held for no time is a piece too: a door that was opened and shut at once was opened.
    if (change.at > from) {
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

/** As they are drawn: of a stretch its first and last value, and the lowest and highest one between them. */
export function drawnPieces(pieces: readonly Piece[]): Piece[] {
  return pieces.flatMap((piece): Piece[] => {
    const { stretch, to } = piece;
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

/** Those that tell of a part of time: the one that held at its beginning, and those within it. A year has a hundred thousand. */
function samplesIn(samples: readonly Sample[], { from, to }: Period): readonly Sample[] {
  const held = countWhile(samples, ({ at }) => at <= from) - 1;
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
