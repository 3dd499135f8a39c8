/** Generous, for a busy machine; a test that checks a time limit passes its own. */
const PATIENCE_MS = 15_000;

/** Waits until `condition` returns a truthy value and returns it; throws an error that names `what` when time is up. */
export async function until<T>(
  condition: () => T | Promise<T>,
  options: { within?: number; every?: number; what?: string } = {},
): Promise<Exclude<T, false | null | undefined | 0 | "">> {
  const { within = PATIENCE_MS, every = 10, what = condition.toString() } = options;
  const end = performance.now() + within;
  for (;;) {
    const value = await condition();
    if (value) return value as Exclude<T, false | null | undefined | 0 | "">;
    if (performance.now() > end) throw new Error(`not within ${within} ms: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, every));
  }
}
