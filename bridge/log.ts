/** The bridge's log: one JSON object a line. Ids and sizes go in, payloads and tokens never do. */

export type LogLevel = "debug" | "info" | "warn" | "error";
export type LogFields = Record<string, string | number | boolean | undefined>;
export type Log = (level: LogLevel, event: string, fields?: LogFields) => void;

/** Writes `{ts, level, program, event, …fields}` lines with `write`; `debug` lines only when asked for. */
export function jsonLog(write: (line: string) => void, options: { debug?: boolean } = {}): Log {
  return (level, event, fields = {}) => {
    if (level === "debug" && !options.debug) return;
    const line = { ts: new Date().toISOString(), level, program: "bridge", event, ...fields };
    write(`${JSON.stringify(line)}\n`);
  };
}

/** A peer that sends rubbish without end must not fill the disk: each kind of complaint once a minute. */
const REPEAT_AFTER_MS = 60_000;
const KEYS_MAX = 2_000;

/** Tells for each key whether it is time to speak (again). */
export class Seldom {
  readonly #spokenAt = new Map<string, number>();
  readonly #now: () => number;

  /** `now`: monotonic ms. */
  constructor(now: () => number) {
    this.#now = now;
  }

  due(key: string): boolean {
    const now = this.#now();
    const last = this.#spokenAt.get(key);
    if (last !== undefined && now - last < REPEAT_AFTER_MS) return false;
    // Deleting first moves the key to the end, so that the oldest is the one to go.
    this.#spokenAt.delete(key);
    this.#spokenAt.set(key, now);
    if (this.#spokenAt.size > KEYS_MAX) {
      for (const oldest of this.#spokenAt.keys()) {
        this.#spokenAt.delete(oldest);
        break;
      }
    }
    return true;
  }
}
