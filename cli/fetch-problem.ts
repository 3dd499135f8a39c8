/** @param error what `fetch` threw: "fetch failed", and why only in its cause @returns why, in one line of words */
export function fetchProblem(error: unknown): string {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  return cause instanceof Error ? cause.message : String(cause);
}
