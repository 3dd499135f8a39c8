import { CLOSE } from "@edgecall/core/protocol/frames.ts";
import { expect, test } from "vitest";
import { GATEWAY_BACKOFF, Retries, retryDelay, STABLE_AFTER_MS } from "./backoff.ts";
import { staysAway } from "./gateway/gateway.ts";

test("full jitter below a ceiling that doubles up to the cap", () => {
  const ceilings = [0, 1, 2, 5, 6, 7, 1_000].map((attempt) => retryDelay(GATEWAY_BACKOFF, attempt, 1));
  expect(ceilings).toEqual([500, 1_000, 2_000, 16_000, 30_000, 30_000, 30_000]);
  expect(retryDelay(GATEWAY_BACKOFF, 3, 0.5)).toBe(2_000);
});

test("never so short that a failure spins", () => {
  expect(retryDelay(GATEWAY_BACKOFF, 0, 0)).toBeGreaterThanOrEqual(50);
});

/** A link that waits as it is told; the dice throw `random`. */
function tries(random: number) {
  let now = 0;
  const retries = new Retries(
    GATEWAY_BACKOFF,
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

test("a connection that worked for a moment starts over; one that broke at once does not", () => {
  const lost = tries(1);
  expect([0, 0, 0, 0].map(lost)).toEqual([500, 500, 1_000, 2_000]);
  expect(lost(STABLE_AFTER_MS - 1)).toBeGreaterThan(4_000);
  expect(lost(STABLE_AFTER_MS)).toBe(500);
});

test("a peer that is restarted every few seconds is dialled again within a second each time", () => {
  const lost = tries(1);
  const delays = Array.from({ length: 10 }, () => [lost(5_000), lost(0)]);
  expect(Math.max(...delays.flat())).toBeLessThanOrEqual(1_000);
});

test("no wait is longer than the trouble has lasted, however the dice fell", () => {
  let random = 0.1;
  let now = 0;
  const retries = new Retries(
    GATEWAY_BACKOFF,
    () => random,
    () => now,
  );
  for (let n = 0; n < 6; n += 1) now += retries.lost(0);
  random = 1;
  expect(retries.lost(0)).toBeLessThanOrEqual(Math.max(GATEWAY_BACKOFF.baseMs, now));
});

test("a peer that stays away is left the most that there is", () => {
  const lost = tries(1);
  const delays = Array.from({ length: 12 }, () => lost(0));
  expect(delays.at(-1)).toBe(GATEWAY_BACKOFF.capMs);
});

test.each([
  [{ status: 401 }, true],
  [{ status: 403 }, true],
  [{ status: 404 }, false],
  [{ status: 503 }, false],
  [{ code: CLOSE.replaced }, true],
  [{ code: CLOSE.badProtocol }, true],
  [{ code: CLOSE.badFrame }, false],
  [{ code: 1006 }, false],
  [{ code: 1012 }, false],
])("after %o it stays away: %s", (ending, away) => {
  expect(staysAway(ending)).toBe(away);
});
