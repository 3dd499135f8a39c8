/** What a turn took, in figures. Pure. */
import type { ErrorType } from "../tools/errors.ts";

/** When a call was out, on one clock, in ms; `elapsedMs` is what its tool says it took. */
export type CallTiming = {
  startedAt: number;
  endedAt: number;
  elapsedMs: number;
  status: "success" | "error";
  errorType?: ErrorType;
};

export type TurnMetrics = {
  /** Model calls. */
  iterations: number;
  /** Calls of tools: `success`, `error` and `timeout` add up to them. */
  calls: number;
  success: number;
  /** Failures but time-outs. */
  error: number;
  timeout: number;
  /** Batches of more than one call. */
  parallel_batches: number;
  /** Calls that were out at the same moment, at most. */
  max_concurrency: number;
  /** What the calls of parallel batches took, less what the person waited for them. */
  wall_time_saved_ms: number;
  duration_ms: number;
};

/**
 * @param batches the calls of each reply of the model, those that have ended
 * @param startedAt when the turn began, and when it ended: ms on one clock
 */
export function turnMetrics(
  batches: ReadonlyArray<readonly CallTiming[]>,
  modelCalls: number,
  startedAt: number,
  endedAt: number,
): TurnMetrics {
  const calls = batches.flat();
  const success = calls.filter((call) => call.status === "success").length;
  const timeout = calls.filter((call) => call.status === "error" && call.errorType === "timeout").length;
  const parallel = batches.filter((batch) => batch.length > 1);
  return {
    iterations: modelCalls,
    calls: calls.length,
    success,
    error: calls.length - success - timeout,
    timeout,
    parallel_batches: parallel.length,
    max_concurrency: Math.max(0, ...batches.map(concurrency)),
    wall_time_saved_ms: parallel.reduce((sum, batch) => sum + saved(batch), 0),
    duration_ms: Math.max(0, Math.round(endedAt - startedAt)),
  };
}

/** The most calls are out at the start of one of them. */
function concurrency(batch: readonly CallTiming[]): number {
  const atStartOf = (call: CallTiming) =>
    batch.filter(
      (other) => other === call || (other.startedAt <= call.startedAt && other.endedAt > call.startedAt),
    );
  return Math.max(0, ...batch.map((call) => atStartOf(call).length));
}

/** Never negative: clocks of two machines may disagree, and a batch of one lock runs one after another. */
function saved(batch: readonly CallTiming[]): number {
  const wall =
    Math.max(...batch.map((call) => call.endedAt)) - Math.min(...batch.map((call) => call.startedAt));
  const elapsed = batch.reduce((sum, call) => sum + call.elapsedMs, 0);
  return Math.max(0, Math.round(elapsed - wall));
}
