/** The log of a program at home: one JSON object a line. It has ids and sizes, and never payloads, arguments, results or tokens. */

type LogLevel = "debug" | "info" | "warn" | "error";
/** Only plain values and lists of names, so that no payload slips in. */
export type LogFields = Readonly<
  Record<string, string | number | boolean | null | undefined | readonly string[]>
>;
/** @param event `room.event`, such as `broker.down` */
export type Log = (level: LogLevel, event: string, fields?: LogFields) => void;

export type JsonLogOptions = {
  /** Takes one finished line; default: stderr. */
  write?: (line: string) => void;
  /** Writes `debug` lines too. Default: false. */
  debug?: boolean;
};

/**
 * Writes `{ts, level, …program, event, …fields}`.
 * @param program the program that logs: the bridge, or an agent with its id
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

/** An error's message, for a log line or a report. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
