import { expect, test } from "vitest";
import { cutText, graphemeCut } from "./cut.ts";

const segments = new Intl.Segmenter("en", { granularity: "grapheme" });

test("C9: a cut at any place of emoji families, flags, skin tones and accents leaves whole graphemes, and is said", () => {
  for (const grapheme of ["👨‍👩‍👧‍👦", "🇩🇪", "👍🏽", "e\u0301\u0302", "❤️", "한"])
    for (let max = 30; max < 90; max += 1) {
      const text = `ab ${grapheme.repeat(100)}`;
      const cut = cutText(text, max);
      expect(cut.length).toBeLessThanOrEqual(max);
      expect(cut.endsWith("…")).toBe(true);
      for (const { segment } of segments.segment(cut.slice(3, -1))) expect(segment).toBe(grapheme);
    }
  expect(cutText("short", 5)).toBe("short");
});

test("C9: a grapheme that is longer than the room is cut between characters", () => {
  expect(graphemeCut(`a${"\u0301".repeat(1_000)}`, 500)).toBe(500);
  expect(
    "😀"
      .repeat(600)
      .slice(0, graphemeCut("😀".repeat(600), 601))
      .isWellFormed(),
  ).toBe(true);
});
