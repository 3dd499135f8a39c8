/** The rows of what has to be told, until their recipients have it. They are few, so all are held in memory. */

import type { Briefing } from "../../api/briefing.ts";
import type { Notice } from "../../api/notices.ts";
import { SqlStore } from "../../sql-store.ts";
import { slot } from "../slot.ts";

/**
 * @property opens the conversation that a browser opens when its notification is pressed
 * @property from epoch ms: it is held back until then, and in quiet hours
 */
type NoticeContent = { say: Notice; opens: string | null; from?: number } | { brief: Briefing };
/** @property recipient a conversation's name, or an outlet's id */
export type PendingNotice = {
  id: string;
  recipient: string;
  rule: string;
  tells: NoticeContent;
  madeAt: number;
};

class NoticeStore extends SqlStore {
  #pending: Map<string, PendingNotice> | undefined;

  #pendingRows(): Map<string, PendingNotice> {
    this.#pending ??= new Map(
      this.sql
        .all<NoticeRow>("SELECT * FROM notice ORDER BY made_at")
        .map(({ id, recipient, rule, notice, made_at: madeAt }) => [
          id,
          // SAFETY: `add` wrote it.
          { id, recipient, rule, tells: JSON.parse(notice) as NoticeContent, madeAt },
        ]),
    );
    return this.#pending;
  }

  pending(): PendingNotice[] {
    return [...this.#pendingRows().values()];
  }

  add(notice: PendingNotice): void {
    const { id, recipient, rule, tells, madeAt } = notice;
    this.sql.insert("OR IGNORE INTO notice", {
      id,
      recipient,
      rule,
      notice: JSON.stringify(tells),
      made_at: madeAt,
    });
    this.#pendingRows().set(id, notice);
  }

  remove(id: string): void {
    this.sql.exec("DELETE FROM notice WHERE id = ?", id);
    this.#pendingRows().delete(id);
  }
}

type NoticeRow = { id: string; recipient: string; rule: string; notice: string; made_at: number };

export const noticesOf = slot(({ ctx }) => new NoticeStore(ctx.storage));
