/** The values that are sent for a drawing: extremes and gaps are seen in it, however many values there were. */
import { expect, test } from "vitest";
import { lineOf } from "./drawing.ts";
import type { Piece } from "./pieces.ts";

const DAY = 86_400_000;
const period = { from: 0, to: DAY };

const piecesOf = (values: readonly Piece["value"][]): Piece[] => {
  const each = DAY / values.length;
  return values.map((value, nth): Piece => {
    const span = { from: nth * each, to: (nth + 1) * each };
    return value === null ? { ...span, value, why: "away" } : { ...span, value };
  });
};

test("a few values are all there, and equal ones are one", () => {
  expect(lineOf(piecesOf([1, 1, 2, null]), period)).toEqual({
    from: 0,
    to: DAY,
    at: [0, DAY / 2, (DAY / 4) * 3],
    values: [1, 2, null],
  });
});

test("of a value each second a thousand are sent, the lowest and the highest among them", () => {
  const values = Array.from({ length: 86_400 }, (_, nth) => Math.sin(nth / 9_000) * 10);
  values[40_000] = 99;
  values[50_000] = -99;
  const { at, values: sent } = lineOf(piecesOf(values), period);
  expect(sent.length).toBeLessThanOrEqual(1_000);
  expect(sent).toContain(99);
  expect(sent).toContain(-99);
  expect(at).toEqual(at.toSorted((a, b) => a - b));
});

test("of a door that rattles the state that held for longest is seen in each column", () => {
  const pieces: Piece[] = Array.from({ length: 20_000 }, (_, nth) => {
    const long = nth % 2 === 0 ? DAY / 10_500 : DAY / 10_000 - DAY / 10_500;
    const from = Math.floor(nth / 2) * (DAY / 10_000) + (nth % 2 === 0 ? 0 : DAY / 10_500);
    return { from, to: from + long, value: nth % 2 === 0 };
  });
  const { values } = lineOf(pieces, period);
  expect(values.length).toBeLessThanOrEqual(1_000);
  expect(new Set(values)).toEqual(new Set([true, false]));
});
