/** How far an outside store has the record: one row of Home, which is written at the first try. */

import type { StoreSettings } from "../../settings/audit.ts";
import type { Sql } from "../../sql-store.ts";

export type SinkPlace = {
  /** Place of the last row of the record that the store has. */
  sentTo: number;
  /** Tries since the last that worked. Each is counted before it is made, so that a crash cannot hide one. */
  tries: number;
  /** Not before then, epoch ms. */
  retryAt: number;
  /** Why the last try failed, in words; null: it worked. */
  problem: string | null;
  /** Lines that were deleted here before the store had them. */
  lost: number;
};

const START: SinkPlace = { sentTo: 0, tries: 0, retryAt: 0, problem: null, lost: 0 };

export class SinkRow {
  readonly #sql: Sql;
  readonly store: StoreSettings;

  /** @param store a store with another address gets everything that Home still has */
  constructor(sql: Sql, store: StoreSettings) {
    this.#sql = sql;
    this.store = store;
  }

  get(): SinkPlace {
    const row = this.#sql.first<SinkPlace & { store: string }>(
      "SELECT store, sent_to AS sentTo, tries, retry_at AS retryAt, problem, lost FROM audit_outlet",
    );
    if (!row) return START;
    const { store, ...place } = row;
    return store === this.store.url ? place : { ...START, lost: place.lost };
  }

  put({ sentTo, tries, retryAt, problem, lost }: SinkPlace): void {
    this.#sql.insert("OR REPLACE INTO audit_outlet", {
      one: 1,
      store: this.store.url,
      sent_to: sentTo,
      tries,
      retry_at: retryAt,
      problem,
      lost,
    });
  }
}
