/** Draws the past of a reading: a line for numbers, bars for states, grey where nothing is known. Its words stand beside it always. */

import { stepsOf } from "@edgecall/core/history/period.ts";
import { drawnPieces, type Piece, piecesOf } from "@edgecall/core/history/pieces.ts";
import { type Gap, isMoment, type Sample, type SeriesInfo } from "@edgecall/core/history/sample.ts";
import { ENGLISH } from "@edgecall/core/phrases/phrases.ts";
import { classWords } from "@edgecall/core/text/class-words.ts";
import { numberText } from "@edgecall/core/text/quantity.ts";
import { DAY_MS, localTime } from "@edgecall/core/time/zone.ts";
import { COLOURS, Picture, SIGN_HEIGHT, SIGN_WIDTH, textWidth } from "./png.ts";

const WIDTH = 800;
const HEIGHT = 400;
const LEFT = 96;
const RIGHT = WIDTH - 16;
const TOP = 48;
const BOTTOM = HEIGHT - 40;
const LABELS_MAX = 8;
const STATES_MAX = 6;

type ChartParts = {
  /** What stands above it: device and reading. */
  title: string;
  info: SeriesInfo;
  samples: readonly Sample[];
  gaps: readonly Gap[];
  from: number;
  to: number;
  zone: string;
};

/** @returns a PNG */
export function drawChart({ title, info, samples, gaps, from, to, zone }: ChartParts): Buffer {
  const picture = new Picture(WIDTH, HEIGHT);
  const pieces = drawnPieces(piecesOf({ samples, gaps }, { from, to }, isMoment(info)), { from, to });
  const x = (at: number) => Math.round(LEFT + ((at - from) / (to - from)) * (RIGHT - LEFT));
  for (const piece of pieces)
    if (piece.value === null) picture.area(x(piece.from), TOP, x(piece.to) + 1, BOTTOM, COLOURS.unknown);
  drawTimes(picture, { from, to, zone }, x);
  const unit = info.unit === undefined ? "" : ` (${info.unit})`;
  picture.text(LEFT, 12, `${title}${unit}, ${zone}`, COLOURS.ink);
  const numbers = pieces.filter((piece) => typeof piece.value === "number");
  if (isMoment(info)) {
    for (const { at, value } of samples)
      if (value !== null && at >= from && at < to)
        picture.area(x(at), TOP + 40, x(at) + 2, BOTTOM, COLOURS.line);
  } else if (numbers.length > 0) drawNumbers(picture, pieces, x);
  else drawStates(picture, pieces, info, x);
  picture.area(LEFT, BOTTOM, RIGHT, BOTTOM + 2, COLOURS.ink);
  return picture.png();
}

function drawTimes(
  picture: Picture,
  { from, to, zone }: { from: number; to: number; zone: string },
  x: (at: number) => number,
): void {
  const by = to - from <= 2 * DAY_MS ? "hour" : to - from <= 70 * DAY_MS ? "day" : "month";
  const steps = stepsOf({ from, to }, by, zone).slice(1);
  const each = Math.max(1, Math.ceil(steps.length / LABELS_MAX));
  // Hours of a day that people know: 0, 3, 6 …
  const every = by === "hour" ? ([1, 2, 3, 6, 12].find((hours) => hours >= each) ?? 24) : each;
  for (const [nth, { from: at }] of steps.entries()) {
    const { hour, day, month, weekday } = localTime(zone, at);
    if (by === "hour" ? hour % every !== 0 : nth % every !== 0) continue;
    picture.area(x(at), TOP, x(at) + 1, BOTTOM, COLOURS.grid);
    const label =
      by === "hour" ? `${hour}:00` : by === "day" ? `${ENGLISH.weekday(weekday)} ${day}` : `${month}`;
    picture.text(x(at) - Math.round(textWidth(label) / 2), BOTTOM + 12, label, COLOURS.ink);
  }
}

function drawNumbers(picture: Picture, pieces: readonly Piece[], x: (at: number) => number): void {
  const values = pieces.flatMap(({ value }) => (typeof value === "number" ? [value] : []));
  const ticks = ticksOf(...boundsOf(values));
  const [low, high] = [ticks[0] ?? 0, ticks.at(-1) ?? 1];
  const y = (value: number) => Math.round(BOTTOM - ((value - low) / (high - low)) * (BOTTOM - TOP));
  for (const tick of ticks) {
    picture.area(LEFT, y(tick), RIGHT, y(tick) + 1, COLOURS.grid);
    const label = numberText(tick);
    picture.text(LEFT - 8 - textWidth(label), y(tick) - SIGN_HEIGHT / 2, label, COLOURS.ink);
  }
  let before: Piece | undefined;
  for (const [nth, piece] of pieces.entries()) {
    const { from, to, value } = piece;
    if (typeof value !== "number") {
      before = undefined;
      continue;
    }
    if (typeof before?.value === "number")
      picture.line(x(before.from), y(before.value), x(from), y(value), COLOURS.line);
    before = piece;
    // The last value before a gap, or before now, holds until then.
    if (typeof pieces[nth + 1]?.value !== "number")
      picture.line(x(from), y(value), x(to), y(value), COLOURS.line);
  }
}

/** Without a call of thousands of arguments. */
function boundsOf(values: readonly number[]): [number, number] {
  let [low, high] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (const value of values) {
    low = Math.min(low, value);
    high = Math.max(high, value);
  }
  return [low, high];
}

/** @returns round numbers around all values: 19.5, 20, 20.5 */
export function ticksOf(low: number, high: number): number[] {
  const span = high > low ? high - low : Math.max(Math.abs(high) * 0.1, 1);
  const power = 10 ** Math.floor(Math.log10(span / 4));
  const step = power * ([1, 2, 2.5, 5, 10].find((times) => span / (power * times) <= 5) ?? 10);
  const first = Math.floor(low / step);
  const last = Math.max(first + 1, Math.ceil(high / step));
  return Array.from({ length: last - first + 1 }, (_, nth) => Number(((first + nth) * step).toPrecision(12)));
}

/** A bar for each state that came, in its own row. */
function drawStates(
  picture: Picture,
  pieces: readonly Piece[],
  info: SeriesInfo,
  x: (at: number) => number,
): void {
  const [yes, no] = classWords(info.class);
  const wordOf = (value: Piece["value"]) => (typeof value === "boolean" ? (value ? yes : no) : String(value));
  const words = [...new Set(pieces.flatMap(({ value }) => (value === null ? [] : [wordOf(value)])))].slice(
    0,
    STATES_MAX,
  );
  const height = Math.floor((BOTTOM - TOP) / Math.max(1, words.length));
  /** Of each word its columns: a year of a door has 20,000 pieces. */
  const rows = new Map(words.map((word) => [word, new Uint8Array(WIDTH)]));
  for (const { from, to, value } of pieces)
    if (value !== null) rows.get(wordOf(value))?.fill(1, x(from), Math.max(x(to), x(from) + 2));
  for (const [row, word] of words.entries()) {
    const top = TOP + row * height;
    const label = word.slice(0, Math.floor((LEFT - 8) / SIGN_WIDTH));
    picture.text(LEFT - 8 - textWidth(label), top + (height - SIGN_HEIGHT) / 2, label, COLOURS.ink);
    const columns = rows.get(word) ?? new Uint8Array(WIDTH);
    for (let left = columns.indexOf(1); left >= 0; ) {
      const end = columns.indexOf(0, left);
      const right = end < 0 ? WIDTH : end;
      picture.area(left, top + 8, right, top + height - 8, COLOURS.area);
      left = columns.indexOf(1, right);
    }
  }
}
