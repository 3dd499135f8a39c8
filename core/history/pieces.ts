/** Puts what was kept of a reading on a line of time: what its value was, and of which parts nothing is known. */
import type { Gap, KeptValue, Sample, UnknownCause } from "./sample.ts";

/** Epoch ms; `to` is not in it. */
export type Period = { from: number; to: number };

/** From `from` up to, and without, `to`. null: nothing is known, for the reason `why`. */
export type Piece = { from: number; to: number; value: KeptValue; why?: never } | UnknownPiece;
type UnknownPiece = { from: number; to: number; value: null; why: UnknownCause };

type Change = { at: number; value: KeptValue | null; why: UnknownCause };

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
  for (const { at, value } of samples) {
    if ((gaps[next]?.from ?? at) < at) yield* gapsBefore(at);
    if (at < until) continue;
    last = at;
    yield { at, value: isMoment && value !== null ? false : value, why: "away" };
  }
  yield* gapsBefore(Number.POSITIVE_INFINITY);
}

/** Moments that are known to have happened there. */
export function momentsIn(
  samples: readonly Sample[],
  { from, to }: Period,
): { at: number; value: KeptValue }[] {
  return samples.flatMap(({ at, value }) => (value !== null && at >= from && at < to ? [{ at, value }] : []));
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
