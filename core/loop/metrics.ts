/** Figures of one turn. Pure. */
import type { ErrorType } from "../tools/errors.ts";

/** When a call began and ended, in ms on one clock; `elapsedMs` is the tool's own measurement. */
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
  /** Tool calls: the sum of `success`, `error` and `timeout`. */
  calls: number;
  success: number;
  /** Failures other than time-outs. */
  error: number;
  timeout: number;
  /** Batches of more than one call. */
  parallel_batches: number;
  /** Most calls that ran at the same moment. */
  max_concurrency: number;
  /**
   * Sum of the times of the calls in parallel batches, minus the time in which at least one of them ran. Waiting for a person
   * or for another call is in neither.
   */
  wall_time_saved_ms: number;
  duration_ms: number;
};

/**
 * @param batches the ended calls of each reply of the model
 * @param startedAt when the turn began, in ms on the same clock as its end
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

/** Counts at the start of each call, because the number of running calls is highest at such a moment. */
function concurrency(batch: readonly CallTiming[]): number {
  const atStartOf = (call: CallTiming) =>
    batch.filter(
      (other) => other === call || (other.startedAt <= call.startedAt && other.endedAt > call.startedAt),
    );
  return Math.max(0, ...batch.map((call) => atStartOf(call).length));
}

/**
 * A call runs at the end of its time: before that it waits, for an approval or a lock. Its own figure counts only up to the
 * whole time, since two machines' clocks may disagree; so this is never negative.
 */
function saved(batch: readonly CallTiming[]): number {
  const runs = batch
    .map(({ startedAt, endedAt, elapsedMs }) => ({
      from: Math.max(startedAt, endedAt - elapsedMs),
      to: endedAt,
    }))
    .sort((a, b) => a.from - b.from);
  let sum = 0;
  let busy = 0;
  let until = Number.NEGATIVE_INFINITY;
  for (const { from, to } of runs) {
    sum += to - from;
    busy += Math.max(0, to - Math.max(from, until));
    until = Math.max(until, to);
  }
  return Math.round(sum - busy);
}
