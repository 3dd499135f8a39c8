import { expect, test } from "vitest";
import { DUEL_DELAY_MS, FIRST_DELAY_MS, LAST_DELAY_MS, Reconnect, STABLE_MS } from "./reconnect.ts";

function harness(random = 1) {
  let now = 0;
  const reconnect = new Reconnect(
    () => now,
    () => random,
  );
  return { reconnect, pass: (ms: number) => (now += ms) };
}

test("delays double from half a second to half a minute, with dice", () => {
  const { reconnect } = harness();
  const delays = Array.from({ length: 9 }, () => reconnect.lost().delayMs);
  expect(delays).toEqual([500, 1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000, 30_000]);
  expect(harness(0).reconnect.lost().delayMs).toBe(FIRST_DELAY_MS / 2);
});

test("a connection that held starts over; one that broke at once does not", () => {
  const { reconnect, pass } = harness();
  for (let n = 0; n < 10; n += 1) reconnect.lost();
  reconnect.connected();
  pass(STABLE_MS - 1);
  expect(reconnect.lost().delayMs).toBe(LAST_DELAY_MS);
  reconnect.connected();
  pass(STABLE_MS);
  expect(reconnect.lost().delayMs).toBe(FIRST_DELAY_MS);
});

test("many losses are a duel only when a stranger was seen", () => {
  const flaky = harness();
  for (let n = 0; n < 8; n += 1) {
    flaky.reconnect.connected();
    flaky.pass(1_000);
    expect(flaky.reconnect.lost().duel).toBe(false);
  }
  const { reconnect, pass } = harness();
  const duels = Array.from({ length: 5 }, () => {
    reconnect.connected();
    reconnect.strangerSeen();
    pass(1_000);
    return reconnect.lost();
  });
  expect(duels.map(({ duel }) => duel)).toEqual([false, false, false, false, true]);
  expect(duels.at(-1)?.delayMs).toBe(DUEL_DELAY_MS);
});
