/** Log lines as objects: Workers Logs indexes their fields. No texts of persons, no arguments, no results. */

export function logInfo(event: string, fields: Record<string, unknown> = {}): void {
  console.log({ event, ...fields });
}

export function logError(event: string, error: unknown, fields: Record<string, unknown> = {}): void {
  console.error({ event, error: error instanceof Error ? error.message : String(error), ...fields });
}
