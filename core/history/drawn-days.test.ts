/** A long drawing of states, whose days are in short, shows each state where all values show it, to a column. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { factsOf, isEnough } from "./facts.ts";
import { drawnPieces, type Piece, piecesOf } from "./pieces.ts";
import type { KeptValue, Sample, SeriesInfo } from "./sample.ts";
import { inShort } from "./stretch.ts";

const DAY_MS = 86_400_000;
const COLUMNS = 700;
const INFO: SeriesInfo = { device: "door", reading: "Contact", kind: "binary_sensor" };

/** Columns in which a state is drawn. */
function columnsOf(
  pieces: readonly Piece[],
  { from, to }: { from: number; to: number },
): Map<unknown, Set<number>> {
  const columns = new Map<unknown, Set<number>>();
  const column = (at: number) => Math.floor(((at - from) / (to - from)) * COLUMNS);
  for (const piece of pieces) {
    const own = columns.get(piece.value) ?? new Set();
    columns.set(piece.value, own);
    for (let nth = column(piece.from); nth <= column(Math.max(piece.from, piece.to - 1)); nth += 1)
      own.add(nth);
  }
  return columns;
}

const change = fc.record({ at: fc.nat({ max: 86_399 }), state: fc.nat({ max: 3 }) });

test.each([60, 150, 400])("of %i days", (days) => {
  const states = fc.constantFrom<readonly KeptValue[]>(["heat", "off", "cool", "dry"], [true, false]);
  fc.assert(
    fc.property(states, fc.array(fc.array(change, { maxLength: 30 }), { maxLength: 12 }), (names, kinds) => {
      const whole: Sample[] = [];
      const short: Sample[] = [];
      for (let day = 0; day < days; day += 1) {
        const own = (kinds[day % kinds.length] ?? [])
          .toSorted((a, b) => a.at - b.at)
          .map(({ at, state }): Sample => {
            const value = names[state % names.length] ?? null;
            return { at: day * DAY_MS + at * 1_000, value: state === 3 && at % 7 === 0 ? null : value };
          });
        whole.push(...own);
        const period = { from: 0, to: days * DAY_MS };
        const brief = inShort(own, false);
        const can = brief?.every(({ stretch }) => !stretch || isEnough(stretch, "chart", undefined, period));
        short.push(...(can && brief ? brief : own));
      }
      const period = { from: 0, to: days * DAY_MS };
      const pieces = [whole, short].map((samples) => piecesOf({ samples, gaps: [] }, period));
      const [all, quick] = pieces.map((own) => columnsOf(drawnPieces(own, period), period));
      expect(new Set(quick?.keys())).toEqual(new Set(all?.keys()));
      for (const [value, columns] of all ?? [])
        for (const [one, other] of [
          [columns, quick?.get(value)],
          [quick?.get(value), columns],
        ])
          for (const column of one ?? [])
            expect([column - 1, column, column + 1].some((near) => other?.has(near))).toBe(true);
      const [facts, quickFacts] = [whole, short].map((samples) =>
        factsOf("chart", { info: INFO, samples, gaps: [] }, period, undefined),
      );
      expect(quickFacts).toEqual(facts);
    }),
    {
      numRuns: 30,
      // Two values of one time, with which the period begins.
      examples: [
        [
          ["heat", "off"],
          [
            [
              { at: 0, state: 0 },
              { at: 0, state: 1 },
              { at: 1, state: 0 },
            ],
          ],
        ],
      ],
    },
  );
});
