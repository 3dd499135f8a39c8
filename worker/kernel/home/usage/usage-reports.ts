/**
 * The journal of what a home counts: one row for each turn that ended, and for each call that is settled outside of a turn. Rows
 * are replaced in a ring and never deleted, since a deletion is a billed row too. When the ring is full, its reports are added
 * to the sums (usage-counters.ts, conversation-list.ts), all in one write.
 */

import type { EndedTurn } from "@edgecall/core/metrics/tally.ts";
import type { ReportedCall } from "../../api/usage.ts";
import { SqlStore } from "../../sql-store.ts";

/** An object that was asleep reads so many rows; the sums are written once for so many reports. */
export const SLOTS = 128;

export type UsageReport = {
  /** Of the turn or call. A report that comes again counts once. */
  id: string;
  /** Its conversation, unless that is a one-shot. */
  conversation: string | null;
  /** Epoch ms. */
  at: number;
  turn?: EndedTurn & { channel: string };
  calls: ReportedCall[];
};

type ReportRow = { n: number; id: string; conversation: string | null; at: number; figures: string };

export class UsageReports extends SqlStore {
  readonly #storage: DurableObjectStorage;
  /** The number of the next report. */
  #next = 0;
  #pending: UsageReport[] = [];
  #ids: Set<string> | undefined;

  constructor(storage: DurableObjectStorage) {
    super(storage);
    this.#storage = storage;
  }

  /** Reports that are not in the sums yet, the oldest first. */
  pending(): readonly UsageReport[] {
    this.#read();
    return this.#pending;
  }

  /** @param addToSums is called in the same write when the ring is full @returns false: it is known */
  add(report: UsageReport, addToSums: (reports: readonly UsageReport[]) => void): boolean {
    const ids = this.#read();
    if (ids.has(report.id)) return false;
    const { id, conversation, at, turn, calls } = report;
    const isFull = this.#pending.length === SLOTS;
    const write = () =>
      this.sql.exec`INSERT OR REPLACE INTO usage_report (slot, n, id, conversation, at, figures)
        VALUES (${this.#next % SLOTS}, ${this.#next}, ${id}, ${conversation}, ${at},
        ${JSON.stringify({ turn, calls })})`;
    if (!isFull) write();
    else {
      this.#storage.transactionSync(() => {
        addToSums(this.#pending);
        write();
      });
      this.#ids = new Set(this.#pending.map((one) => one.id));
      this.#pending = [];
    }
    this.#ids?.add(id);
    this.#pending.push(report);
    this.#next += 1;
    return true;
  }

  #read(): Set<string> {
    if (this.#ids) return this.#ids;
    const rows = this.sql
      .all<ReportRow>("SELECT n, id, conversation, at, figures FROM usage_report")
      .sort((a, b) => a.n - b.n);
    this.#next = (rows.at(-1)?.n ?? -1) + 1;
    // A whole ring is added to the sums when the next report comes, which is the first of its round.
    const from = Math.floor(Math.max(this.#next - 1, 0) / SLOTS) * SLOTS;
    this.#pending = rows
      .filter(({ n }) => n >= from)
      .map(({ id, conversation, at, figures }) => {
        // SAFETY: `add` wrote it.
        const { turn, calls } = JSON.parse(figures) as Pick<UsageReport, "turn" | "calls">;
        return { id, conversation, at, ...(turn && { turn }), calls };
      });
    this.#ids = new Set(rows.map(({ id }) => id));
    return this.#ids;
  }
}
