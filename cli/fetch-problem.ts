/** @param error from `fetch`: "fetch failed", with the reason in its cause @returns the reason, in one line */
export function fetchProblem(error: unknown): string {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  return cause instanceof Error ? cause.message : String(cause);
}
