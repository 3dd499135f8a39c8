import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { BETWEEN_MS, Progress, SIGN_OF_LIFE_MS } from "./progress.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test("says at once, then at most one per interval and the newest of those that waited", () => {
  const said: string[] = [];
  const progress = new Progress((text) => void said.push(text));
  for (const text of ["a", "b", "c"]) progress.say(text);
  expect(said).toEqual(["a"]);
  vi.advanceTimersByTime(BETWEEN_MS);
  expect(said).toEqual(["a", "c"]);
  progress.end();
});

test("gives a sign of life when nothing else is said, until the end", () => {
  const said: string[] = [];
  const progress = new Progress((text) => void said.push(text));
  vi.advanceTimersByTime(SIGN_OF_LIFE_MS);
  expect(said).toEqual(["still working (20 s)"]);
  vi.advanceTimersByTime(BETWEEN_MS);
  progress.say("using cpu");
  vi.advanceTimersByTime(SIGN_OF_LIFE_MS - 1);
  expect(said).toHaveLength(2);
  vi.advanceTimersByTime(1);
  expect(said).toHaveLength(3);
  progress.end();
  vi.advanceTimersByTime(10 * SIGN_OF_LIFE_MS);
  expect(said).toHaveLength(3);
});
