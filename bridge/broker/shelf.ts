/** Results that Home has not yet stored: kept, and sent again at every reconnect, until it acks them. */
import type { Log } from "@edgecall/node/log.ts";

export type KeptReport = { id: string; agent: string; payload: string };

/** In memory is enough: an agent keeps its results itself until they are acked, and sends them again. */
export const SHELF_MAX_REPORTS = 1_000;
export const SHELF_MAX_BYTES = 16 * 1024 * 1024;

export class ReportShelf {
  readonly #kept = new Map<string, KeptReport>();
  readonly #log: Log;
  readonly #maxBytes: number;
  #bytes = 0;

  constructor(log: Log, maxBytes = SHELF_MAX_BYTES) {
    this.#log = log;
    this.#maxBytes = maxBytes;
  }

  /**
   * Keeps a report; the newest text of the same agent and id stands. Makes room by dropping the oldest of the agent that
   * has most, so that one which reports without end pushes out its own.
   */
  keep(report: KeptReport): void {
    this.#remove(keyOf(report.agent, report.id));
    this.#kept.set(keyOf(report.agent, report.id), report);
    this.#bytes += sizeOf(report);
    while (this.#kept.size > SHELF_MAX_REPORTS || (this.#bytes > this.#maxBytes && this.#kept.size > 1)) {
      const oldest = this.#oldestOfMost();
      if (oldest === undefined) return;
      this.#remove(keyOf(oldest.agent, oldest.id));
      this.#log("warn", "report_dropped", { agent: oldest.agent, id: oldest.id, reason: "too many unacked" });
    }
  }

  get(agent: string, id: string): KeptReport | undefined {
    return this.#kept.get(keyOf(agent, id));
  }

  /** Forgets the acked report; without an agent, every one with this id. Gives back what was forgotten. */
  acked(id: string, agent: string | undefined): KeptReport[] {
    const found =
      agent === undefined
        ? [...this.#kept.values()].filter((report) => report.id === id)
        : [this.get(agent, id)].filter((report) => report !== undefined);
    for (const report of found) this.#remove(keyOf(report.agent, report.id));
    return found;
  }

  /** Oldest first. */
  all(): KeptReport[] {
    return [...this.#kept.values()];
  }

  #oldestOfMost(): KeptReport | undefined {
    const sizes = new Map<string, number>();
    // A report weighs also where it is short: both bounds count.
    for (const report of this.#kept.values())
      sizes.set(
        report.agent,
        (sizes.get(report.agent) ?? 0) + sizeOf(report) + this.#maxBytes / SHELF_MAX_REPORTS,
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
function keyOf(agent: string, id: string): string {
  return `${agent}/${id}`;
}

function sizeOf(report: KeptReport): number {
  return Buffer.byteLength(report.payload);
}
