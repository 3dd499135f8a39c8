/** The calls of one reply, several at once. */

export type BatchOptions = {
  /** Calls at once. */
  maxParallel: number;
  /** A cancel: no call is started after it; those under way are waited for. */
  signal?: AbortSignal;
};

/**
 * Runs the calls, at most `maxParallel` at once.
 *
 * @returns what each one came to, in the order of the calls; undefined = not started, because of the cancel
 * @throws what a call threw, the first of them, when all that were under way have ended; no call is started
 *   after it
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
  // One iterator for all: each takes the next call that nobody has taken.
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
