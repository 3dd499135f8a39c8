/** Results that Home has not yet stored: kept, and sent again at every reconnect, until it acks them. */
import type { Log } from "./log.ts";

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

  /** Keeps a report; the newest text of the same agent and id stands. Makes room by dropping the oldest. */
  keep(report: KeptReport): void {
    this.#remove(keyOf(report.agent, report.id));
    this.#kept.set(keyOf(report.agent, report.id), report);
    this.#bytes += sizeOf(report);
    while (this.#kept.size > SHELF_MAX_REPORTS || (this.#bytes > this.#maxBytes && this.#kept.size > 1)) {
      const [key, oldest] = this.#kept.entries().next().value ?? [];
      if (key === undefined || oldest === undefined) return;
      this.#remove(key);
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
