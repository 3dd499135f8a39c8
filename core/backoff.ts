/** Waits that double from one failed try to the next. */
export type Backoff = { baseMs: number; capMs: number };

/** @param attempt 0 for the first failure, then 1, 2, … @returns ms to wait before the next try, without jitter */
export function backoffMs({ baseMs, capMs }: Backoff, attempt: number): number {
  return Math.min(capMs, baseMs * 2 ** attempt);
}
