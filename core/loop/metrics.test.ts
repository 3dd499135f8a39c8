import fc from "fast-check";
import { expect, test } from "vitest";
import { type CallTiming, turnMetrics } from "./metrics.ts";

const call = (startedAt: number, endedAt: number, more: Partial<CallTiming> = {}): CallTiming => ({
  startedAt,
  endedAt,
  elapsedMs: endedAt - startedAt,
  status: "success",
  ...more,
});
const failed = (errorType: "timeout" | "execution_failed"): Partial<CallTiming> => ({
  status: "error",
  errorType,
});

test("a turn without calls", () => {
  expect(turnMetrics([], 1, 1_000, 3_500)).toEqual({
    iterations: 1,
    calls: 0,
    success: 0,
    error: 0,
    timeout: 0,
    parallel_batches: 0,
    max_concurrency: 0,
    wall_time_saved_ms: 0,
    duration_ms: 2_500,
  });
});

test("single calls are no batches and save nothing", () => {
  const metrics = turnMetrics(
    [[call(0, 100, { elapsedMs: 500 })], [call(200, 300, failed("timeout"))]],
    3,
    0,
    400,
  );
  expect(metrics).toMatchObject({
    calls: 2,
    success: 1,
    timeout: 1,
    error: 0,
    parallel_batches: 0,
    max_concurrency: 1,
    wall_time_saved_ms: 0,
  });
});

test("a batch saves the sum of its calls' times minus its own time", () => {
  const batch = [call(0, 300), call(0, 200, failed("execution_failed")), call(250, 400)];
  expect(turnMetrics([batch, [call(500, 600)]], 2, 0, 600)).toMatchObject({
    calls: 4,
    success: 3,
    error: 1,
    parallel_batches: 1,
    max_concurrency: 2,
    // 300 + 200 + 150 in 400.
    wall_time_saved_ms: 250,
  });
});

test("sequential calls save no time, and a call that ends as the next begins does not run at the same time", () => {
  const batch = [call(0, 100), call(100, 200), call(210, 300)];
  expect(turnMetrics([batch], 2, 0, 300)).toMatchObject({ max_concurrency: 1, wall_time_saved_ms: 0 });
});

test("waiting for a person is neither saved nor lost", () => {
  const saved = (...batch: CallTiming[]) => turnMetrics([batch], 1, 0, 99_999).wall_time_saved_ms;
  // Two calls ran for a second each, right after a minute in which a person approved both.
  expect(saved(call(0, 61_000, { elapsedMs: 1_000 }), call(0, 61_000, { elapsedMs: 1_000 }))).toBe(1_000);
  // One of three waited.
  expect(saved(call(0, 300), call(0, 200), call(0, 60_100, { elapsedMs: 100 }))).toBe(200);
  // The second waited for the first one's lock.
  expect(saved(call(0, 100), call(0, 200, { elapsedMs: 100 }))).toBe(0);
});

test("calls that took no time are counted too", () => {
  expect(turnMetrics([[call(5, 5), call(5, 5)]], 1, 0, 9)).toMatchObject({ max_concurrency: 1 });
});

test("property: figures add up and are never negative", () => {
  const timing = fc
    .tuple(fc.nat(1_000), fc.nat(1_000), fc.nat(5_000), fc.constantFrom("ok", "timeout", "execution_failed"))
    .map(([start, took, elapsedMs, end]) =>
      call(start, start + took, {
        elapsedMs,
        ...(end === "ok" ? {} : failed(end as "timeout" | "execution_failed")),
      }),
    );
  fc.assert(
    fc.property(
      fc.array(fc.array(timing, { maxLength: 6 }), { maxLength: 4 }),
      fc.nat(),
      fc.nat(),
      (batches, a, b) => {
        const metrics = turnMetrics(batches, batches.length, a, b);
        expect(metrics.success + metrics.error + metrics.timeout).toBe(metrics.calls);
        expect(metrics.max_concurrency).toBeLessThanOrEqual(
          Math.max(0, ...batches.map((batch) => batch.length)),
        );
        expect(metrics.max_concurrency > 0).toBe(metrics.calls > 0);
        for (const figure of Object.values(metrics)) expect(figure).toBeGreaterThanOrEqual(0);
      },
    ),
  );
});
