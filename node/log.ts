/** The log of a program at home: one JSON object a line. Ids and sizes go in; payloads, arguments, results and tokens never do. */

export type LogLevel = "debug" | "info" | "warn" | "error";
/** Plain values and lists of names, so that no payload slips in. */
export type LogFields = Readonly<
  Record<string, string | number | boolean | null | undefined | readonly string[]>
>;
/** @param event `room.event`; what the bridge logged before there were rooms keeps its names, which people search for */
export type Log = (level: LogLevel, event: string, fields?: LogFields) => void;

export type JsonLogOptions = {
  /** Takes one finished line; default: stderr. */
  write?: (line: string) => void;
  /** Whether `debug` lines are written. */
  debug?: boolean;
};

/**
 * Writes `{ts, level, …program, event, …fields}`.
 * @param program who logs: the bridge, or an agent with its id
 */
export function jsonLog(
  program: { program: string; agent?: string },
  { write = toStderr, debug = false }: JsonLogOptions = {},
): Log {
  return (level, event, fields = {}) => {
    if (level === "debug" && !debug) return;
    const line = { ts: new Date().toISOString(), level, ...program, event, ...fields };
    write(`${JSON.stringify(line)}\n`);
  };
}

function toStderr(line: string): void {
  process.stderr.write(line);
}

/** What an error says, for a log line or a report. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
