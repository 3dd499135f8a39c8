/** Results that Home has not yet stored: kept, and sent again at every reconnect, until it acks them. */
import type { Log } from "@edgecall/node/log.ts";

export type BufferedReport = { id: string; agent: string; payload: string };

/** In memory is enough: an agent keeps its results itself until they are acked, and sends them again. */
export const BUFFER_MAX_REPORTS = 1_000;
export const BUFFER_MAX_BYTES = 16 * 1024 * 1024;

export class ReportBuffer {
  readonly #kept = new Map<string, BufferedReport>();
  readonly #log: Log;
  readonly #maxBytes: number;
  #bytes = 0;

  constructor(log: Log, maxBytes = BUFFER_MAX_BYTES) {
    this.#log = log;
    this.#maxBytes = maxBytes;
  }

  /**
   * Keeps a report; the newest text of the same agent and id stands. Makes room by dropping the oldest of the agent that
   * has most, so that one which reports without end pushes out its own.
   */
  keep(report: BufferedReport): void {
    this.#remove(reportKey(report.agent, report.id));
    this.#kept.set(reportKey(report.agent, report.id), report);
    this.#bytes += sizeOf(report);
    while (this.#kept.size > BUFFER_MAX_REPORTS || (this.#bytes > this.#maxBytes && this.#kept.size > 1)) {
      const oldest = this.#oldestOfMost();
      if (oldest === undefined) return;
      this.#remove(reportKey(oldest.agent, oldest.id));
      this.#log("warn", "report_dropped", { agent: oldest.agent, id: oldest.id, reason: "too many unacked" });
    }
  }

  get(agent: string, id: string): BufferedReport | undefined {
    return this.#kept.get(reportKey(agent, id));
  }

  /** Forgets the acked report; without an agent, every one with this id. Gives back what was forgotten. */
  acked(id: string, agent: string | undefined): BufferedReport[] {
    const found =
      agent === undefined
        ? [...this.#kept.values()].filter((report) => report.id === id)
        : [this.get(agent, id)].filter((report) => report !== undefined);
    for (const report of found) this.#remove(reportKey(report.agent, report.id));
    return found;
  }

  /** Oldest first. */
  all(): BufferedReport[] {
    return [...this.#kept.values()];
  }

  #oldestOfMost(): BufferedReport | undefined {
    const sizes = new Map<string, number>();
    // A report weighs also where it is short: both bounds count.
    for (const report of this.#kept.values())
      sizes.set(
        report.agent,
        (sizes.get(report.agent) ?? 0) + sizeOf(report) + this.#maxBytes / BUFFER_MAX_REPORTS,
      );
    const most = [...sizes].reduce((a, b) => (b[1] > a[1] ? b : a), ["", 0])[0];
    for (const report of this.#kept.values()) if (report.agent === most) return report;
    return undefined;
  }

  #remove(key: string): void {
    const report = this.#kept.get(key);
    if (report === undefined) return;
    this.#kept.delete(key);
    this.#bytes -= sizeOf(report);
  }
}

/** An agent's id holds no `/`, so the key is unambiguous whatever an id of a call holds. */
function reportKey(agent: string, id: string): string {
  return `${agent}/${id}`;
}

function sizeOf(report: BufferedReport): number {
  return Buffer.byteLength(report.payload);
}
