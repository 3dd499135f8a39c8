/**
 * Does work whose signal aborts after a time. `AbortSignal.timeout` keeps its timer until the time is over, also when the work has
 * long ended, and a pending timer keeps a Durable Object in memory, which is billed.
 * @param ms from now on
 */
export async function withTimeLimit<T>(ms: number, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const control = new AbortController();
  const timer = setTimeout(() => control.abort(new DOMException("The time is over.", "TimeoutError")), ms);
  try {
    return await work(control.signal);
  } finally {
    clearTimeout(timer);
  }
}
