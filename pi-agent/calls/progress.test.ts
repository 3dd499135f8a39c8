import fc from "fast-check";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import {
  BETWEEN_MS,
  OUTPUT_MAX_BYTES,
  OUTPUT_TOTAL_BYTES,
  Progress,
  type ProgressOptions,
  type ProgressText,
  SIGN_OF_LIFE_MS,
  tailOf,
} from "./progress.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function harness(more: Partial<ProgressOptions> = {}) {
  const said: ProgressText[] = [];
  const progress = new Progress({
    publish: (it) => void said.push(it),
    watched: true,
    tool: "slow",
    ...more,
  });
  const texts = () => said.map(({ text }) => text);
  return { said, progress, texts };
}

test("sends the first message at once, then at most one per interval, with everything since the last one", () => {
  const { progress, said } = harness();
  for (const text of ["a", "b", "c"]) progress.output(text, "slow");
  expect(said).toEqual([{ tool: "slow", text: "a" }]);
  vi.advanceTimersByTime(BETWEEN_MS - 1);
  expect(said).toHaveLength(1);
  vi.advanceTimersByTime(1);
  expect(said).toEqual([
    { tool: "slow", text: "a" },
    { tool: "slow", text: "bc" },
  ]);
  progress.end();
});

test("without a watching person: only an occasional sign of life, and no output", () => {
  const { progress, said } = harness({ watched: false });
  progress.output("secret of the house", "slow");
  vi.advanceTimersByTime(2 * SIGN_OF_LIFE_MS);
  expect(said).toEqual([{ tool: "slow" }, { tool: "slow" }]);
  progress.setTool("disk");
  expect(said).toHaveLength(2);
  progress.watch();
  progress.output("from here on", "slow");
  vi.advanceTimersByTime(BETWEEN_MS);
  expect(said.at(-1)).toEqual({ tool: "slow", text: "from here on" });
  progress.end();
});

test("a sign of life when nothing else is sent, until the end", () => {
  const { progress, said } = harness();
  vi.advanceTimersByTime(SIGN_OF_LIFE_MS);
  expect(said).toEqual([{ tool: "slow" }]);
  vi.advanceTimersByTime(BETWEEN_MS);
  progress.output("x", "slow");
  vi.advanceTimersByTime(SIGN_OF_LIFE_MS - 1);
  expect(said).toHaveLength(2);
  vi.advanceTimersByTime(1);
  expect(said).toHaveLength(3);
  progress.end();
  progress.output("too late", "slow");
  vi.advanceTimersByTime(10 * SIGN_OF_LIFE_MS);
  expect(said).toHaveLength(3);
});

test("a job gives no signs of life", () => {
  const { progress, said } = harness({ signsOfLife: false });
  vi.advanceTimersByTime(10 * SIGN_OF_LIFE_MS);
  progress.output("x", "slow");
  vi.advanceTimersByTime(10 * SIGN_OF_LIFE_MS);
  expect(said).toEqual([{ tool: "slow", text: "x" }]);
});

test("the outputs of several tools, and of the model, are distinguished", () => {
  const { progress, said } = harness();
  progress.output("1", "a");
  progress.output("2", "b");
  progress.output("3", undefined);
  progress.output("4", "b");
  vi.advanceTimersByTime(2 * BETWEEN_MS);
  expect(said).toEqual([{ tool: "a", text: "1" }, { tool: "b", text: "24" }, { text: "3" }]);
  progress.end();
});

test("of output that comes too fast the end is sent, and a note on what is missing", () => {
  const { progress, texts } = harness();
  progress.output("x", "slow");
  for (let line = 0; line < 5_000; line += 1) progress.output(`line ${line}\n`, "slow");
  vi.advanceTimersByTime(BETWEEN_MS);
  const last = texts()[1] ?? "";
  expect(Buffer.byteLength(last)).toBeLessThanOrEqual(OUTPUT_MAX_BYTES);
  expect(Buffer.byteLength(last)).toBeGreaterThan(OUTPUT_MAX_BYTES - 10);
  expect(last.startsWith("…")).toBe(true);
  expect(last.endsWith("line 4998\nline 4999\n")).toBe(true);
  progress.end();
});

test("after this much output of one call only signs of life are sent", () => {
  const { progress, said } = harness();
  for (let piece = 0; piece < 100; piece += 1) {
    progress.output("x".repeat(OUTPUT_MAX_BYTES), "slow");
    vi.advanceTimersByTime(BETWEEN_MS);
  }
  const bytes = said.reduce((sum, { text = "" }) => sum + Buffer.byteLength(text), 0);
  expect(bytes).toBe(OUTPUT_TOTAL_BYTES);
  vi.advanceTimersByTime(SIGN_OF_LIFE_MS);
  expect(said.at(-1)).toEqual({ tool: "slow" });
  progress.end();
});

/** Without the character that stands for a broken one. */
const graphemes = fc.string({ unit: "grapheme" }).filter((text) => !text.includes("\ufffd"));

test("tailOf: never over the size, always an end, never half a character", () => {
  fc.assert(
    fc.property(graphemes, fc.integer({ min: 8, max: 100 }), (text, most) => {
      const tail = tailOf(text, most);
      expect(Buffer.byteLength(tail)).toBeLessThanOrEqual(Math.max(most, 8));
      if (Buffer.byteLength(text) <= most) expect(tail).toBe(text);
      else expect(text.endsWith(tail.slice(1))).toBe(true);
      expect(tail).not.toContain("\ufffd");
    }),
    { numRuns: 300 },
  );
});
