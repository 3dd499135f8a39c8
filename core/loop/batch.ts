/** Runs the calls of one reply, several at a time. */

export type BatchOptions<Call> = {
  /** Calls that run at the same time. */
  maxParallel: number;
  /** After an abort no call is started; calls under way are awaited. */
  signal?: AbortSignal;
  /** Returns true if a call may start now. It is asked again whenever a call has ended; absent = each may start. */
  isReady?(call: Call): boolean;
};

/** A call's place among those that run at the same time. */
export type Slot = {
  /** The call waits for a person, and others may run meanwhile. @returns a function for when it goes on, at once */
  leave(): () => void;
};

/**
 * Runs the calls, at most `maxParallel` at a time. The first one that is ready is next.
 * @returns the results in the order of the calls; undefined = not started, because of the abort or because it never was ready
 * @throws the first error that a call threw, once all calls under way have ended; no call is started after it
 */
export async function runBatch<Call, Result>(
  calls: readonly Call[],
  { maxParallel, signal, isReady = () => true }: BatchOptions<Call>,
  run: (call: Call, slot: Slot) => Promise<Result>,
): Promise<Array<Result | undefined>> {
  const [only] = calls;
  if (calls.length === 1 && only !== undefined && isReady(only)) {
    return [signal?.aborted ? undefined : await run(only, { leave: () => () => {} })];
  }
  const results = new Array<Result | undefined>(calls.length).fill(undefined);
  const failures: unknown[] = [];
  const waiting = [...calls.entries()];
  const running = new Set<Promise<void>>();
  let away = 0;
  let left = Promise.withResolvers<void>();
  const slot: Slot = {
    leave() {
      away += 1;
      left.resolve();
      return () => {
        away -= 1;
      };
    },
  };
  const start = async (position: number, call: Call) => {
    try {
      results[position] = await run(call, slot);
    } catch (error) {
      failures.push(error);
    }
  };
  for (;;) {
    const isOver = signal?.aborted || failures.length > 0;
    const at = isOver ? -1 : waiting.findIndex(([, call]) => isReady(call));
    const isFree = running.size - away < Math.max(1, maxParallel);
    const next = at >= 0 && isFree ? waiting.splice(at, 1)[0] : undefined;
    if (next) {
      const one = start(...next).finally(() => running.delete(one));
      running.add(one);
    } else if (running.size > 0) {
      left = Promise.withResolvers<void>();
      await Promise.race([...running, left.promise]);
    } else break;
  }
  if (failures.length > 0) throw failures[0];
  return results;
}
