/** How far an outside store has the record: one row of Home, once there was something to tell. */

import type { StoreSettings } from "../../settings/audit.ts";

export type OutletPlace = {
  /** Place of the last row of the record that the store has. */
  sentTo: number;
  /** Since the last that worked; counted before each try, so that a crash cannot hide one. */
  tries: number;
  /** Not before then, epoch ms. */
  retryAt: number;
  /** What came of the last try, in words; null: it worked. */
  problem: string | null;
  /** Lines that were forgotten here before the store had them. */
  lost: number;
};

const START: OutletPlace = { sentTo: 0, tries: 0, retryAt: 0, problem: null, lost: 0 };

export class OutletRow {
  readonly #sql: SqlStorage;
  readonly store: StoreSettings;

  /** @param store one with another address begins with whatever Home still has */
  constructor(sql: SqlStorage, store: StoreSettings) {
    this.#sql = sql;
    this.store = store;
  }

  get(): OutletPlace {
    const row = this.#sql
      .exec<OutletPlace & { store: string }>(
        "SELECT store, sent_to AS sentTo, tries, retry_at AS retryAt, problem, lost FROM audit_outlet",
      )
      .toArray()[0];
    if (!row) return START;
    const { store, ...place } = row;
    return store === this.store.url ? place : { ...START, lost: place.lost };
  }

  put({ sentTo, tries, retryAt, problem, lost }: OutletPlace): void {
    this.#sql.exec(
      "INSERT OR REPLACE INTO audit_outlet (one, store, sent_to, tries, retry_at, problem, lost) VALUES (1, ?, ?, ?, ?, ?, ?)",
      this.store.url,
      sentTo,
      tries,
      retryAt,
      problem,
      lost,
    );
  }
}
