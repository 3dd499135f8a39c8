/** A reading's past as a line of time that is short enough to be sent and drawn. Pure. */
import type { PastLine } from "../protocol/past.ts";
import { joined, type Period, type Piece } from "./pieces.ts";

/** Parts of the drawing's width. Of each it has what a person can see there. */
const COLUMNS = 200;
/** More pieces in a column are not seen. */
const SEEN_MAX = 4;

export function lineOf(all: readonly Piece[], { from, to }: Period): PastLine {
  const pieces = joined(all, (a, b) => a.value === b.value);
  const width = (to - from) / COLUMNS;
  const columns = Map.groupBy(pieces, (piece) => Math.floor((piece.from - from) / width));
  const seen = [...columns.values()].flatMap(seenOf);
  return { from, to, at: seen.map((piece) => piece.from), values: seen.map(({ value }) => value) };
}

/** The first and the last one of a column, and between them its extremes, or what held for longest. */
function seenOf(pieces: readonly Piece[]): readonly Piece[] {
  if (pieces.length <= SEEN_MAX) return pieces;
  const [first, last] = [pieces[0], pieces.at(-1)];
  const numbers = pieces.filter(({ value }) => typeof value === "number");
  const ordered =
    numbers.length > 0
      ? numbers.sort((a, b) => Number(a.value) - Number(b.value))
      : pieces.toSorted((a, b) => a.to - a.from - (b.to - b.from));
  const shown = new Set<Piece | undefined>([first, last, ordered[0], ordered.at(-1)]);
  return pieces.filter((piece) => shown.has(piece));
}
