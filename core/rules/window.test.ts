import { describe, expect, test } from "vitest";
import type { TimeWindow } from "../protocol/rules.ts";
import { clockText, isInside, nextEdge, readClock, readWindow, windowText } from "./window.ts";

const berlin = (text: string): TimeWindow => {
  const read = readWindow(text, "Europe/Berlin");
  if (!read.ok) throw new Error(read.error);
  return read.value;
};
const at = (iso: string) => Date.parse(iso);

test("a clock's time as text", () => {
  expect(["00:00", "23:59", "24:00", "12:60", "8:00", "08:00h", ""].map(readClock)).toEqual([
    0,
    1_439,
    undefined,
    undefined,
    undefined,
    undefined,
    undefined,
  ]);
  expect([0, 61, 1_439].map(clockText)).toEqual(["00:00", "01:01", "23:59"]);
});

test.each([
  ["22:00-07:00", { from: 1_320, to: 420 }, "22:00–07:00"],
  ["09:30-17:00", { from: 570, to: 1_020 }, "09:30–17:00"],
  ["18:00-24:00", { from: 1_080, to: 0 }, "18:00–00:00"],
])("%s", (text, expected, words) => {
  expect(berlin(text)).toEqual({ ...expected, zone: "Europe/Berlin" });
  expect(windowText(berlin(text))).toBe(words);
});

test.each([
  ["25:00-07:00", /^expected HH:MM-HH:MM .* as in 22:00-07:00$/],
  ["24:00-07:00", /^expected/],
  ["22-07", /^expected/],
  ["08:00-08:00", /the whole day; leave it out/],
])("%s is refused in words", (text, error) => {
  expect(readWindow(text, "Europe/Berlin")).toEqual({ ok: false, error: expect.stringMatching(error) });
});

describe("inside", () => {
  test.each([
    [
      "over midnight",
      "22:00-07:00",
      ["2026-11-22T21:00Z", "2026-11-22T23:30Z", "2026-11-23T05:59:59Z"],
      ["2026-11-22T20:59:59Z", "2026-11-23T06:00Z", "2026-11-23T12:00Z"],
    ],
    [
      "within a day",
      "09:00-17:00",
      ["2026-11-23T08:00Z", "2026-11-23T15:59Z"],
      ["2026-11-23T07:59Z", "2026-11-23T16:00Z"],
    ],
  ])("%s", (_, text, inside, outside) => {
    // A window of its own for each: the last stretch is kept.
    for (const time of inside) expect([time, isInside(berlin(text), at(time))]).toEqual([time, true]);
    for (const time of outside) expect([time, isInside(berlin(text), at(time))]).toEqual([time, false]);
    const kept = berlin(text);
    for (const time of [...inside, ...outside])
      expect([time, isInside(kept, at(time))]).toEqual([time, inside.includes(time)]);
  });

  test("the next edge is the end inside, and the beginning outside", () => {
    const night = berlin("22:00-07:00");
    expect(nextEdge(night, at("2026-11-22T23:00Z"))).toBe(at("2026-11-23T06:00Z"));
    expect(nextEdge(night, at("2026-11-23T06:00Z"))).toBe(at("2026-11-23T21:00Z"));
  });

  test("an end that the clock shows twice is one end, and one that it leaves out is the moment after the gap", () => {
    const early = berlin("22:00-02:30");
    expect(nextEdge(early, at("2027-10-30T22:00Z"))).toBe(at("2027-10-31T00:30Z"));
    // 02:10 for the second time.
    expect(isInside(early, at("2027-10-31T01:10Z"))).toBe(false);
    expect(nextEdge(early, at("2027-10-31T01:10Z"))).toBe(at("2027-10-31T21:00Z"));
    expect(nextEdge(early, at("2027-03-27T23:00Z"))).toBe(at("2027-03-28T01:00Z"));
  });

  test("a window within the gap does not open on that day", () => {
    const gap = berlin("02:10-02:40");
    expect(isInside(gap, at("2027-03-28T01:00Z"))).toBe(false);
    expect(nextEdge(gap, at("2027-03-28T01:00Z"))).toBe(at("2027-03-29T00:10Z"));
  });
});
