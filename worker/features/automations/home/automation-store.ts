/** The rows of rules that act, and of persons' words about who is at home. They are few, so all are held in memory. */
import type { Automation, SaidPresence } from "@edgecall/core/protocol/automation.ts";
import type { Language } from "@edgecall/core/text/languages.ts";
import { DAY_MS } from "@edgecall/core/time/zone.ts";
import type { Address, Origin } from "../../../kernel/api/turns.ts";
import { slot } from "../../../kernel/home/slot.ts";
import { SqlStore } from "../../../kernel/sql-store.ts";

/** A rule that was ended may still have to tell of its last run. */
const GONE_KEPT_MS = 7 * DAY_MS;

/** @property call the call that made this version, by which its repeat is known */
export type AutomationMaker = Pick<Origin, "principal" | "role" | "channel"> & {
  conversation: string | null;
  call: string;
  language: Language;
  reply?: Address;
};

/**
 * @property signed the text that the bridge gets @property card its lines, as the owner read them @property input JSON of the arguments, of
 *   which it is drafted anew @property unsent the bridge may have the name and words of before
 * @property isEndTold people know that its time is over soon
 * @property critical what is told again until a person answers
 */
export type AutomationRow = {
  automation: Automation;
  signed: string;
  card: string[];
  input: string;
  maker: AutomationMaker;
  allowed: { by: string; at: number; until: number };
  status: "active" | "paused" | "gone";
  why: string | null;
  changedAt: number;
  madeAt: number;
  unsent?: boolean;
  isEndTold?: true;
  critical?: { n: number; text: string; times: number; due: number };
};

class AutomationStore extends SqlStore {
  #rows: Map<string, AutomationRow> | undefined;
  #said: SaidPresence[] | undefined;

  #all(): Map<string, AutomationRow> {
    this.#rows ??= new Map(
      this.sql.all<{ id: string; row: string }>("SELECT * FROM automation").map(({ id, row }) => [
        id,
        // SAFETY: `put` wrote it.
        JSON.parse(row) as AutomationRow,
      ]),
    );
    return this.#rows;
  }

  /** Those that a person has, in the order in which they were made. */
  all(): AutomationRow[] {
    return this.whole()
      .filter(({ status }) => status !== "gone")
      .sort((a, b) => a.madeAt - b.madeAt);
  }

  /** Those that were ended, too, in no order. */
  whole(): AutomationRow[] {
    return [...this.#all().values()];
  }

  /** Those that the bridge is to have. */
  active(): AutomationRow[] {
    return this.all().filter(({ status }) => status === "active");
  }

  /** @returns one that was ended, too */
  get(id: string): AutomationRow | undefined {
    return this.#all().get(id);
  }

  put(row: AutomationRow): void {
    const { id } = row.automation;
    this.sql.insert("OR REPLACE INTO automation", { id, row: JSON.stringify(row) });
    this.#all().set(id, row);
  }

  prune(now: number): void {
    for (const { automation, status, changedAt } of this.whole()) {
      if (status !== "gone" || changedAt > now - GONE_KEPT_MS) continue;
      this.sql.exec("DELETE FROM automation WHERE id = ?", automation.id);
      this.#all().delete(automation.id);
    }
  }

  /** The number of the news that was stored last. */
  newsStored(): number {
    return this.sql.first<{ n: number }>("SELECT n FROM automation_news")?.n ?? 0;
  }

  storeNews(n: number): void {
    this.sql.insert("OR REPLACE INTO automation_news", { one: 1, n });
  }

  /** The last words of at most 50 persons. They stay after their end: a bridge that was away may have older ones. */
  said(): SaidPresence[] {
    this.#said ??= this.sql
      .all<{ person: string; name: string; away: number; at: number }>(
        "SELECT * FROM said_presence ORDER BY away DESC, at DESC LIMIT 50",
      )
      .map((row) => ({ ...row, away: row.away === 1 }));
    return this.#said;
  }

  say({ away, ...said }: SaidPresence): void {
    this.sql.insert("OR REPLACE INTO said_presence", { ...said, away: away ? 1 : 0 });
    this.#said = undefined;
  }
}

export const automationsOf = slot(({ ctx }) => new AutomationStore(ctx.storage));
