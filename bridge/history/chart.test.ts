/** Charts as pictures: what is drawn where, and how large they are. */
import { inflateSync } from "node:zlib";
import type { Gap, Sample, SeriesInfo } from "@edgecall/core/history/sample.ts";
import { expect, test } from "vitest";
import { drawChart, ticksOf } from "./chart.ts";
import { COLOURS, type Colour, Picture } from "./png.ts";

const FROM = Date.UTC(2026, 10, 25, 23);
const HOUR = 3_600_000;
const ROOM: SeriesInfo = { device: "k", reading: "Temperature", unit: "°C", kind: "sensor" };
const DOOR: SeriesInfo = { device: "k", reading: "Contact", class: "door", kind: "binary_sensor" };

type Dots = { width: number; height: number; at(x: number, y: number): number | undefined };

/** Reads the PNG as any program does: its parts, and the rows of one byte a dot. */
function dotsOf(png: Buffer): Dots {
  expect(png.subarray(0, 8).toString("hex")).toBe("89504e470d0a1a0a");
  const parts = new Map<string, Buffer>();
  for (let at = 8; at < png.length; ) {
    const length = png.readUInt32BE(at);
    parts.set(png.toString("latin1", at + 4, at + 8), png.subarray(at + 8, at + 8 + length));
    at += 12 + length;
  }
  const head = parts.get("IHDR") ?? Buffer.alloc(13);
  const [width, height] = [head.readUInt32BE(0), head.readUInt32BE(4)];
  const rows = inflateSync(parts.get("IDAT") ?? Buffer.alloc(0));
  expect(rows).toHaveLength((width + 1) * height);
  return { width, height, at: (x, y) => rows[y * (width + 1) + 1 + x] };
}

function countOf({ width, height, at }: Dots, colour: Colour, from = 0, to = 1): number {
  let count = 0;
  for (let y = 0; y < height; y += 1)
    for (let x = Math.floor(from * width); x < Math.floor(to * width); x += 1)
      if (at(x, y) === colour) count += 1;
  return count;
}

const chart = (info: SeriesInfo, samples: readonly Sample[], gaps: readonly Gap[] = [], hours = 24) =>
  drawChart({
    title: "Wohnzimmer: Größe",
    info,
    samples,
    gaps,
    from: FROM,
    to: FROM + hours * HOUR,
    zone: "Europe/Berlin",
  });

const wave = Array.from({ length: 2_016 }, (_, nth) => ({
  at: FROM + nth * 5 * 60_000,
  value: Math.round(10 * (20 + 3 * Math.sin(nth / 40))) / 10,
}));

test("a line for numbers, grey where nothing is known, and no line there", () => {
  const gaps: Gap[] = [{ from: FROM + 12 * HOUR, to: FROM + 18 * HOUR, why: "bridge" }];
  const dots = dotsOf(chart(ROOM, wave, gaps));
  expect([dots.width, dots.height]).toEqual([800, 400]);
  expect(countOf(dots, COLOURS.line, 0.15, 0.5)).toBeGreaterThan(300);
  expect(countOf(dots, COLOURS.line, 0.58, 0.72)).toBe(0);
  expect(countOf(dots, COLOURS.unknown, 0.58, 0.72)).toBeGreaterThan(20_000);
  expect(countOf(dots, COLOURS.unknown, 0.15, 0.5)).toBe(0);
  expect(countOf(dots, COLOURS.ink)).toBeGreaterThan(1_000);
});

test("a bar for each time in which it was open, and one for closed", () => {
  const samples = [
    { at: FROM, value: false },
    { at: FROM + 6 * HOUR, value: true },
    { at: FROM + 18 * HOUR, value: false },
  ];
  const dots = dotsOf(chart(DOOR, samples));
  const half = countOf(dots, COLOURS.area);
  expect(half).toBeGreaterThan(50_000);
  expect(dots.at(448, 100)).not.toBe(dots.at(448, 300));
  expect(dots.at(150, 100)).not.toBe(dots.at(150, 300));
});

test("an event is a mark, and a time without any value is all grey", () => {
  const bell: SeriesInfo = { device: "k", reading: "Bell", kind: "event" };
  expect(countOf(dotsOf(chart(bell, [{ at: FROM + HOUR, value: "single" }])), COLOURS.line)).toBeGreaterThan(
    100,
  );
  expect(countOf(dotsOf(chart(ROOM, [])), COLOURS.unknown)).toBeGreaterThan(150_000);
});

test("a week of values every five minutes has few bytes", () => {
  expect(chart(ROOM, wave, [], 168).length).toBeLessThan(10_000);
});

test.each([
  [19.2, 22.4],
  [0, 0],
  [1_480, 1_520],
  [-18.4, -17.9],
  [0.001, 0.0042],
])("from %d to %d: a few round numbers around all values", (low, high) => {
  const ticks = ticksOf(low, high);
  expect(ticks[0]).toBeLessThanOrEqual(low);
  expect(ticks.at(-1)).toBeGreaterThanOrEqual(high);
  expect(ticks.length).toBeGreaterThanOrEqual(2);
  expect(ticks.length).toBeLessThanOrEqual(8);
});

test("letters with marks are drawn without them, and what has no sign is left out", () => {
  const width = (text: string) => {
    const picture = new Picture(200, 20);
    picture.text(0, 0, text, COLOURS.ink);
    return picture.png().toString("hex");
  };
  expect(width("Größe".replace("ß", ""))).toBe(width("Groe"));
  expect(width("温度 21 °C")).toBe(width(" 21 °C"));
});
