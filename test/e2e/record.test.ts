/** The recording in docs says what the product says today: the tour is typed anew, and its text compared. Pixels are not. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { walkConsole } from "../record/console.ts";
import { framesIn, svgOf } from "../record/svg.ts";
import { startDemo, typeTour } from "../record/tour.ts";
import { openWindow, signIn, startChromium } from "./chromium.ts";
import { ROOT } from "./program.ts";

/** Values and times are of the moment, and the machine's name is of the machine. */
const masked = (line: string) =>
  line.replaceAll(/(→|✓) \S+ (watch)/g, "$1 HOST $2").replaceAll(/[−-]?\d[\d.,:]*/g, "#");

/** The screen after each command: that on which the next one begins to be typed, and the last one. */
function screensOf(frames: readonly (readonly string[])[]): string[] {
  const typed = (lines: readonly string[] = []) => lines.at(-1)?.endsWith("▏") ?? false;
  const ends = frames.filter(
    (lines, n) => !typed(lines) && (n + 1 === frames.length || typed(frames[n + 1])),
  );
  return ends.map((lines) =>
    lines
      .filter((line) => line !== "")
      .map(masked)
      .join("\n"),
  );
}

describe("npm run record", { tags: ["needs/linux"], timeout: 180_000 }, () => {
  const kept = readFileSync(join(ROOT, "docs/pictures/tour.svg"), "utf8");

  test("the tour in docs is what is said today, screen by screen", async () => {
    const demo = await startDemo();
    try {
      const frames = framesIn(svgOf(await typeTour(demo)));
      expect(screensOf(frames)).toEqual(screensOf(framesIn(kept)));
    } finally {
      await demo.stop();
    }
  });

  test("the walk through the console finds what it shows", { tags: ["needs/chromium"] }, async () => {
    const demo = await startDemo();
    const browser = await startChromium();
    try {
      const page = await openWindow(browser);
      await signIn(page, demo.url, demo.token, "#/home");
      const told: Record<string, string> = {};
      await walkConsole(page, (step, text) => {
        told[step] = text;
      });
      expect(told).toEqual({
        home: expect.stringContaining("Kitchen"),
        lamp: expect.stringContaining("Reading lamp: on"),
        question: expect.stringContaining("Unlock Front door?"),
        unlocked: expect.stringContaining("Front door: unlocked"),
      });
    } finally {
      await browser.close();
      await demo.stop();
    }
  });

  test("it is small enough for a README, and needs nothing of others", () => {
    expect(kept.length).toBeLessThan(300 * 1024);
    expect(kept).not.toMatch(/<script|https?:\/\/(?!www\.w3\.org\/2000\/svg)/);
    expect(screensOf(framesIn(kept)).length).toBe(4);
  });
});
