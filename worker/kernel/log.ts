/**
 * Writes log lines as JSON objects, as in every program. Workers Logs indexes their fields
 * (https://developers.cloudflare.com/workers/observability/logs/workers-logs/). No line contains texts of people, arguments or results.
 */

export function logInfo(event: string, fields: Record<string, unknown> = {}): void {
  console.log(JSON.stringify({ event, ...fields }));
}

export function logError(event: string, error: unknown, fields: Record<string, unknown> = {}): void {
  const message = error instanceof Error ? error.message : String(error);
  console.error(JSON.stringify({ event, error: message, ...fields }));
}
