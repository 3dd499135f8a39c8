/** Formats times and sizes. */

export function ago(then: number | null, now: number): string {
  if (then === null) return "never";
  const seconds = Math.max(0, Math.round((now - then) / 1_000));
  if (seconds < 60) return seconds < 5 ? "just now" : `${seconds} s ago`;
  if (seconds < 3_600) return `${Math.round(seconds / 60)} min ago`;
  if (seconds < 2 * 86_400) return `${Math.round(seconds / 3_600)} h ago`;
  return `${Math.round(seconds / 86_400)} days ago`;
}

export function endOf(expiresAt: number, now: number): string {
  return `${expiresAt <= now ? "expired" : "expires"} ${new Date(expiresAt).toLocaleDateString()}`;
}

export function duration(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1_000).toFixed(ms < 10_000 ? 1 : 0)} s`;
  return `${Math.floor(ms / 60_000)} min ${Math.round((ms % 60_000) / 1_000)} s`;
}

export function size(bytes: number): string {
  if (bytes < 1_024) return `${bytes} B`;
  return bytes < 1024 * 1024 ? `${Math.round(bytes / 1_024)} KB` : `${(bytes / 1_048_576).toFixed(1)} MB`;
}

/** Returns the smallest value that a share `p` of the values does not exceed. @param sorted ascending, not empty */
export function percentile(sorted: readonly number[], p: number): number {
  return sorted[Math.max(0, Math.ceil(p * sorted.length) - 1)] ?? 0;
}
