import { expect, test } from "vitest";
import { FIRST_DELAY_MS, LAST_DELAY_MS, Reconnect, STABLE_MS } from "./reconnect.ts";

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
  const delays = Array.from({ length: 9 }, () => reconnect.lost());
  expect(delays).toEqual([500, 1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000, 30_000]);
  expect(harness(0).reconnect.lost()).toBe(FIRST_DELAY_MS / 2);
});

test("a connection that held starts over; one that broke at once does not", () => {
  const { reconnect, pass } = harness();
  for (let n = 0; n < 10; n += 1) reconnect.lost();
  reconnect.connected();
  pass(STABLE_MS - 1);
  expect(reconnect.lost()).toBe(LAST_DELAY_MS);
  reconnect.connected();
  pass(STABLE_MS);
  expect(reconnect.lost()).toBe(FIRST_DELAY_MS);
});
