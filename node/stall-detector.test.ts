import { describe, expect, test } from "vitest";
import { StallDetector } from "./stall-detector.ts";

function clockAt(start: number) {
  let now = start;
  return { now: () => now, pass: (ms: number) => (now += ms) };
}

describe("stall detector", () => {
  test("without a stall there is no doubt about a message's age", () => {
    const clock = clockAt(0);
    const stall = new StallDetector({ afterMs: 2_000, now: clock.now });
    for (let second = 0; second < 5; second += 1) {
      clock.pass(1_000);
      stall.tick();
    }
    clock.pass(900);
    expect(stall.unknownAgeMs()).toBe(0);
  });

  test("after a stall a message may be as old as the stall, even before the tick has run", () => {
    const clock = clockAt(0);
    const stall = new StallDetector({ afterMs: 2_000, now: clock.now });
    clock.pass(30_000);
    expect(stall.unknownAgeMs()).toBe(30_000);
    clock.pass(1_000);
    stall.tick();
    expect(stall.unknownAgeMs()).toBe(30_000);
  });

  test("two seconds later messages count as new again", () => {
    const clock = clockAt(0);
    const stall = new StallDetector({ afterMs: 2_000, now: clock.now });
    clock.pass(30_000);
    stall.tick();
    clock.pass(1_000);
    stall.tick();
    clock.pass(1_001);
    expect(stall.unknownAgeMs()).toBe(0);
  });

  test("stalls in quick succession add up", () => {
    const clock = clockAt(0);
    const stall = new StallDetector({ afterMs: 2_000, now: clock.now });
    clock.pass(10_000);
    stall.tick();
    clock.pass(5_000);
    expect(stall.unknownAgeMs()).toBe(15_000);
  });

  test("a late tick counts once, also when a message was read before it", () => {
    const clock = clockAt(0);
    const stall = new StallDetector({ afterMs: 1_000, now: clock.now });
    clock.pass(1_000);
    expect([stall.tick(), stall.arrival()]).toEqual([true, 1_000]);
    clock.pass(10_000);
    expect(stall.arrival()).toBe(1_000);
    clock.pass(10);
    expect([stall.tick(), stall.tick()]).toEqual([false, true]);
    expect(stall.arrival()).toBe(1_000);
    clock.pass(1_000);
    expect([stall.tick(), stall.arrival()]).toEqual([true, 12_010]);
  });
});
