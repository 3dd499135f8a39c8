/** The gateway's time: when the bridge accepts it, while this machine's clock is set, put back or right. */
import { expect, test } from "vitest";
import { CLOCK_OFF_MAX_MS, GatewayClock } from "./gateway-clock.ts";

const NOON = Date.UTC(2026, 10, 22, 12);
const HOUR = 3_600_000;

/** A machine with two clocks that the test moves. */
function machine(wall: number) {
  const time = { wall, now: 0 };
  const logged: string[] = [];
  const clock = new GatewayClock((level, event) => logged.push(`${level} ${event}`), {
    wall: () => time.wall,
    now: () => time.now,
  });
  return { time, logged, clock, told: (at: number) => clock.setFrom(new Date(at).toUTCString()) };
}

test("it continues from the gateway's time, also when this machine's clock is set meanwhile", () => {
  const { time, clock, told, logged } = machine(NOON - 1_000 * HOUR);
  expect(clock.now()).toBe(NOON - 1_000 * HOUR);
  expect(told(NOON)).toBeUndefined();
  expect(clock.now()).toBe(NOON);
  time.now += HOUR;
  time.wall = NOON + HOUR;
  expect(clock.now()).toBe(NOON + HOUR);
  expect(logged).toEqual(["warn gateway.clock_taken"]);
  // Later the two may drift apart, because other programs keep this machine's clock right.
  time.now += 400 * HOUR;
  time.wall += 401 * HOUR;
  told(time.wall - 500);
  expect(clock.now()).toBe(time.wall);
});

test.each([
  ["ahead", CLOCK_OFF_MAX_MS],
  ["behind", -CLOCK_OFF_MAX_MS],
])("a time too far %s is refused and reported; the known time stays", (_, off) => {
  const { clock, told, logged } = machine(NOON);
  told(NOON + HOUR);
  const problem = told(NOON + off * 1.01);
  expect(problem).toContain("2026-11-22T12:00:00.000Z");
  expect(clock.now()).toBe(NOON + HOUR);
  expect(told(NOON + off * 0.99)).toBeUndefined();
  expect(logged.slice(1)).toEqual(["error gateway.clock_not_taken", "warn gateway.clock_taken"]);
});

test.each([undefined, "", "soon", "Thu, 99 Foo 2026 99:99:99 GMT", "Sat, 01 Jan 275761 00:00:00 GMT"])(
  "an invalid Date (%s) changes nothing",
  (date) => {
    const { clock, logged } = machine(NOON);
    expect(clock.setFrom(date)).toBeUndefined();
    expect(clock.now()).toBe(NOON);
    expect(logged).toEqual([]);
  },
);
