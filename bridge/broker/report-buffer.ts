/** Holds the reports that Home has not acked. They are sent again at every reconnect. */
import type { Log } from "@edgecall/node/log.ts";

export type BufferedReport = { id: string; agent: string; payload: string };

/** Memory is enough: an agent stores its own results until they are acked, and sends them again. */
const BUFFER_MAX_REPORTS = 1_000;
const BUFFER_MAX_BYTES = 16 * 1024 * 1024;

export class ReportBuffer {
  readonly #reports = new Map<string, BufferedReport>();
  readonly #log: Log;
  readonly #maxBytes: number;
  #bytes = 0;

  constructor(log: Log, maxBytes = BUFFER_MAX_BYTES) {
    this.#log = log;
    this.#maxBytes = maxBytes;
  }

  /**
   * Adds a report, in place of an earlier one with the same agent and id. Makes room by dropping the oldest report of the
   * agent that has most, so that an agent which never stops reporting pushes out only its own.
   */
  add(report: BufferedReport): void {
    this.#remove(reportKey(report.agent, report.id));
    this.#reports.set(reportKey(report.agent, report.id), report);
    this.#bytes += sizeOf(report);
    while (
      this.#reports.size > BUFFER_MAX_REPORTS ||
      (this.#bytes > this.#maxBytes && this.#reports.size > 1)
    ) {
      const oldest = this.#oldestOfMost();
      if (oldest === undefined) return;
      this.#remove(reportKey(oldest.agent, oldest.id));
      this.#log("warn", "report.dropped", { agent: oldest.agent, id: oldest.id, reason: "too many unacked" });
    }
  }

  get(agent: string, id: string): BufferedReport | undefined {
    return this.#reports.get(reportKey(agent, id));
  }

  /** Deletes the acked report; without an agent, every report with this id. @returns the deleted ones */
  acked(id: string, agent: string | undefined): BufferedReport[] {
    const found =
      agent === undefined
        ? [...this.#reports.values()].filter((report) => report.id === id)
        : [this.get(agent, id)].filter((report) => report !== undefined);
    for (const report of found) this.#remove(reportKey(report.agent, report.id));
    return found;
  }

  /** Oldest first. */
  all(): BufferedReport[] {
    return [...this.#reports.values()];
  }

  #oldestOfMost(): BufferedReport | undefined {
    const sizes = new Map<string, number>();
    // Each report has a least weight, so that both bounds count.
    for (const report of this.#reports.values())
      sizes.set(
        report.agent,
        (sizes.get(report.agent) ?? 0) + sizeOf(report) + this.#maxBytes / BUFFER_MAX_REPORTS,
      );
    const most = [...sizes].reduce((a, b) => (b[1] > a[1] ? b : a), ["", 0])[0];
    for (const report of this.#reports.values()) if (report.agent === most) return report;
    return undefined;
  }

  #remove(key: string): void {
    const report = this.#reports.get(key);
    if (report === undefined) return;
    this.#reports.delete(key);
    this.#bytes -= sizeOf(report);
  }
}

/** An agent's id has no `/`, so the key is unambiguous for any call id. */
function reportKey(agent: string, id: string): string {
  return `${agent}/${id}`;
}

function sizeOf(report: BufferedReport): number {
  return Buffer.byteLength(report.payload);
}
