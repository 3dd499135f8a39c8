/** Runs the calls of one reply, several at a time. */

export type BatchOptions<Call> = {
  /** Calls that run at the same time. */
  maxParallel: number;
  /** After an abort no call is started; calls under way are awaited. */
  signal?: AbortSignal;
  /** Returns true if a call may start now. It is asked again whenever a call has ended; absent = each may start. */
  isReady?(call: Call): boolean;
};

/**
 * Runs the calls, at most `maxParallel` at a time. The first one that is ready is next.
 *
 * @returns the results in the order of the calls; undefined = not started, because of the abort or because it never was ready
 * @throws the first error that a call threw, once all calls under way have ended; no call is started after it
 */
export async function runBatch<Call, Result>(
  calls: readonly Call[],
  { maxParallel, signal, isReady = () => true }: BatchOptions<Call>,
  run: (call: Call) => Promise<Result>,
): Promise<Array<Result | undefined>> {
  const [only] = calls;
  if (calls.length === 1 && only !== undefined && isReady(only)) {
    return [signal?.aborted ? undefined : await run(only)];
  }
  const results = new Array<Result | undefined>(calls.length).fill(undefined);
  const failures: unknown[] = [];
  const waiting = [...calls.entries()];
  const running = new Set<Promise<void>>();
  const start = async (position: number, call: Call) => {
    try {
      results[position] = await run(call);
    } catch (error) {
      failures.push(error);
    }
  };
  for (;;) {
    const isOver = signal?.aborted || failures.length > 0;
    const at = isOver ? -1 : waiting.findIndex(([, call]) => isReady(call));
    const next = at >= 0 && running.size < Math.max(1, maxParallel) ? waiting.splice(at, 1)[0] : undefined;
    if (next) {
      const one = start(...next).finally(() => running.delete(one));
      running.add(one);
    } else if (running.size > 0) await Promise.race(running);
    else break;
  }
  if (failures.length > 0) throw failures[0];
  return results;
}
