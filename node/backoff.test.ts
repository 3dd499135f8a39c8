import { expect, test } from "vitest";
import { ReconnectSchedule, type RetryPolicy, retryDelay } from "./backoff.ts";

const STABLE_MS = 1_000;
const FULL: RetryPolicy = { baseMs: 500, capMs: 30_000, stableMs: STABLE_MS, jitter: "full" };
const HALF: RetryPolicy = { ...FULL, jitter: "half" };

test("full jitter below a ceiling that doubles up to the limit", () => {
  const ceilings = [0, 1, 2, 5, 6, 7, 1_000].map((attempt) => retryDelay(FULL, attempt, 1));
  expect(ceilings).toEqual([500, 1_000, 2_000, 16_000, 30_000, 30_000, 30_000]);
  expect(retryDelay(FULL, 3, 0.5)).toBe(2_000);
});

test("the wait is never so short that failures spin", () => {
  expect(retryDelay(FULL, 0, 0)).toBeGreaterThanOrEqual(50);
});

/** A link that waits as told; `random` is the random number. */
function tries(random: number) {
  let now = 0;
  const retries = new ReconnectSchedule(
    FULL,
    () => random,
    () => now,
  );
  return (workedMs: number) => {
    now += workedMs;
    const delay = retries.lost(workedMs);
    now += delay;
    return delay;
  };
}

test("a connection that worked for a moment resets the wait; one that broke at once does not", () => {
  const lost = tries(1);
  expect([0, 0, 0, 0].map(lost)).toEqual([500, 500, 1_000, 2_000]);
  expect(lost(STABLE_MS - 1)).toBeGreaterThan(4_000);
  expect(lost(STABLE_MS)).toBe(500);
});

test("a peer that restarts every few seconds is dialled again within a second each time", () => {
  const lost = tries(1);
  const delays = Array.from({ length: 10 }, () => [lost(5_000), lost(0)]);
  expect(Math.max(...delays.flat())).toBeLessThanOrEqual(1_000);
});

test("no wait is longer than the outage so far, whatever the random numbers are", () => {
  let random = 0.1;
  let now = 0;
  const retries = new ReconnectSchedule(
    FULL,
    () => random,
    () => now,
  );
  for (let n = 0; n < 6; n += 1) now += retries.lost(0);
  random = 1;
  expect(retries.lost(0)).toBeLessThanOrEqual(Math.max(FULL.baseMs, now));
});

test("a peer that stays away is dialled with the longest wait", () => {
  const lost = tries(1);
  const delays = Array.from({ length: 12 }, () => lost(0));
  expect(delays.at(-1)).toBe(FULL.capMs);
});

function halfJitter(random: number) {
  const retries = new ReconnectSchedule(
    HALF,
    () => random,
    () => 0,
  );
  return (workedMs: number) => retries.lost(workedMs);
}

test("half jitter: delays double from half a second to half a minute", () => {
  const delays = Array.from({ length: 9 }, () => 0).map(halfJitter(1));
  expect(delays).toEqual([500, 1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000, 30_000]);
  expect(halfJitter(0)(0)).toBe(HALF.baseMs / 2);
});

test("half jitter: a connection that lasted resets the wait; one that broke at once does not", () => {
  const lost = halfJitter(1);
  for (let n = 0; n < 10; n += 1) lost(0);
  expect(lost(STABLE_MS - 1)).toBe(HALF.capMs);
  expect(lost(STABLE_MS)).toBe(HALF.baseMs);
});
