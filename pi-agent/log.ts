/** The agent's log: JSON lines on stderr, with what happened but never the arguments or results of a call. */

export type LogLevel = "info" | "warn" | "error";
export type Log = (level: LogLevel, event: string, fields?: Record<string, unknown>) => void;

/** @param write takes one finished line; stderr unless told otherwise */
export function jsonLog(agentId: string, write: (line: string) => void = toStderr): Log {
  return (level, event, fields = {}) => {
    const line = { ts: new Date().toISOString(), level, program: "agent", agent: agentId, event, ...fields };
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
