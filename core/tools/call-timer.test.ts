import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { CallTimer } from "./call-timer.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function timed(ms: number) {
  const over = vi.fn();
  const timer = new CallTimer(ms, () => Date.now());
  timer.start(over);
  return { over, timer };
}

test("expires after its time, once", () => {
  const { over } = timed(1_000);
  vi.advanceTimersByTime(999);
  expect(over).not.toHaveBeenCalled();
  vi.advanceTimersByTime(60_000);
  expect(over).toHaveBeenCalledTimes(1);
});

test("stops while it is paused, and continues with the rest", () => {
  const { over, timer } = timed(1_000);
  vi.advanceTimersByTime(400);
  const resume = timer.pause();
  vi.advanceTimersByTime(3_600_000);
  expect(timer.remainingMs()).toBe(600);
  resume();
  vi.advanceTimersByTime(599);
  expect(over).not.toHaveBeenCalled();
  vi.advanceTimersByTime(1);
  expect(over).toHaveBeenCalledTimes(1);
});

test("with two pauses at once the later end counts; ending one twice counts once", () => {
  const { over, timer } = timed(100);
  const [first, second] = [timer.pause(), timer.pause()];
  first();
  first();
  vi.advanceTimersByTime(1_000);
  expect(over).not.toHaveBeenCalled();
  second();
  vi.advanceTimersByTime(100);
  expect(over).toHaveBeenCalledTimes(1);
});

test("never expires without a limit, or after it was ended; a pause does not change that", () => {
  const endless = timed(Number.POSITIVE_INFINITY);
  const ended = timed(100);
  const resume = ended.timer.pause();
  ended.timer.end();
  resume();
  vi.advanceTimersByTime(2 ** 33);
  expect(endless.over).not.toHaveBeenCalled();
  expect(ended.over).not.toHaveBeenCalled();
});

test("a time longer than Node's timers allow works", () => {
  const { over } = timed(2 ** 32);
  vi.advanceTimersByTime(2 ** 32 - 1);
  expect(over).not.toHaveBeenCalled();
  vi.advanceTimersByTime(1);
  expect(over).toHaveBeenCalledTimes(1);
});
