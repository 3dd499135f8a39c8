/**
 * Log lines: one JSON object each, as in every program. Workers Logs indexes the fields of a line that is JSON
 * (https://developers.cloudflare.com/workers/observability/logs/workers-logs/). No texts of persons, no arguments, no results.
 */

export function logInfo(event: string, fields: Record<string, unknown> = {}): void {
  console.log(JSON.stringify({ event, ...fields }));
}

export function logError(event: string, error: unknown, fields: Record<string, unknown> = {}): void {
  const message = error instanceof Error ? error.message : String(error);
  console.error(JSON.stringify({ event, error: message, ...fields }));
}
