/** Runs the calls of one reply, several at a time. */

export type BatchOptions = {
  /** Calls that run at the same time. */
  maxParallel: number;
  /** After an abort no call is started; calls under way are awaited. */
  signal?: AbortSignal;
};

/**
 * Runs the calls, at most `maxParallel` at a time.
 *
 * @returns the results in the order of the calls; undefined = not started because of the abort
 * @throws the first error that a call threw, once all calls under way have ended; no call is started after it
 */
export async function runBatch<Call, Result>(
  calls: readonly Call[],
  options: BatchOptions,
  run: (call: Call) => Promise<Result>,
): Promise<Array<Result | undefined>> {
  const [only] = calls;
  if (calls.length === 1 && only !== undefined) {
    return [options.signal?.aborted ? undefined : await run(only)];
  }
  const results = new Array<Result | undefined>(calls.length).fill(undefined);
  const failures: unknown[] = [];
  // All workers share one iterator, so each takes the next free call.
  const waiting = calls.entries();
  const worker = async () => {
    for (const [position, call] of waiting) {
      if (options.signal?.aborted || failures.length > 0) return;
      try {
        results[position] = await run(call);
      } catch (error) {
        failures.push(error);
      }
    }
  };
  const workers = Math.min(Math.max(1, options.maxParallel), calls.length);
  await Promise.all(Array.from({ length: workers }, worker));
  if (failures.length > 0) throw failures[0];
  return results;
}
