/** The rows of rules, of their firings, and of what has to be told. They are few, so all rules are held in memory. */
import type { DeliveryRecord } from "@edgecall/core/rules/delivery.ts";
import type { RuleChange, RuleState } from "@edgecall/core/rules/evaluate.ts";
import type { SentMessage } from "@edgecall/core/rules/limits.ts";
import type { Reminder } from "@edgecall/core/rules/reminder.ts";
import type { WatchRule, WatchSource } from "@edgecall/core/rules/watch-rule.ts";
import type { Address } from "../../api/chat.ts";
import type { Briefing, Notice } from "../../api/rules.ts";
import type { Origin } from "../../api/turns.ts";

/** @property call the model's call that made the rule, by which its repeat is known @property tainted a stranger's words may have asked for it */
export type Maker = Pick<Origin, "principal" | "role" | "channel" | "limits"> & {
  conversation: string;
  call: string;
  tainted: boolean;
  reply?: Address;
};

type Common = {
  id: string;
  maker: Maker;
  status: "active" | "paused" | "orphaned";
  why: string | null;
  due: number | null;
  madeAt: number;
};
export type WatchRow = Common & { kind: "watch"; rule: WatchRule; record: DeliveryRecord; state: RuleState };
export type ReminderRow = Common & { kind: "remind"; rule: Reminder; handled: number };
export type RuleRow = WatchRow | ReminderRow;

/** @property outlet a browser or topic that is told, beside the conversation */
type ToTell = { say: Notice; outlet?: string } | { brief: Briefing };
export type PendingNotice = { id: string; conversation: string; rule: string; tells: ToTell; madeAt: number };

/** `value`: JSON. */
export type StoredFiring = {
  occurrence: number;
  at: number;
  until: number | null;
  value: string | null;
  acked_by: string | null;
};

/** Of a rule's history, and of firings that are kept. */
const FIRINGS_KEPT = 100;

export class RuleStore {
  readonly #sql: SqlStorage;
  #rows: Map<string, RuleRow> | undefined;
  #pending: Map<string, PendingNotice> | undefined;
  /** Messages of the last hour, of this object's life. */
  sent: SentMessage[] = [];
  /** When a conversation was last told something. */
  readonly toldAt = new Map<string, number>();
  /** Since when the bridge was gone when that was told. */
  toldGone: number | undefined;
  /** By agent: firings of the last hour, and since when it is noisy. */
  readonly firedBy = new Map<string, number[]>();
  readonly noisySince = new Map<string, number>();
  /** Watches of which their maker is about to hear whether they were made. */
  readonly beingMade = new Set<string>();
  /** Agents that are being told which rules they have. */
  readonly syncing = new Set<string>();
  /** Rules that other places have to learn of, with the place. */
  #moved = new Map<string, WatchSource>();

  constructor(storage: DurableObjectStorage) {
    this.#sql = storage.sql;
  }

  #all(): Map<string, RuleRow> {
    this.#rows ??= new Map(
      this.#sql
        .exec<SqlRow>("SELECT * FROM rule ORDER BY made_at")
        .toArray()
        .map((row) => [row.id, toRow(row)]),
    );
    return this.#rows;
  }

  all(): RuleRow[] {
    return [...this.#all().values()];
  }

  get(id: string): RuleRow | undefined {
    return this.#all().get(id);
  }

  /** Rules that were made, paused, resumed or removed since the last time, and that are evaluated elsewhere. */
  takeMoved(): Map<string, WatchSource> {
    const moved = this.#moved;
    this.#moved = new Map();
    return moved;
  }

  put(row: RuleRow): void {
    const watch = row.kind === "watch" ? row : undefined;
    const before = this.get(row.id);
    if (watch && versionThere(before) !== versionThere(row)) this.#moved.set(row.id, watch.rule.source);
    this.#sql.exec(
      "INSERT OR REPLACE INTO rule (id, rule, maker, status, why, record, state, due, handled, made_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
      row.id,
      JSON.stringify(row.rule),
      JSON.stringify(row.maker),
      row.status,
      row.why,
      watch ? JSON.stringify(watch.record) : null,
      watch ? JSON.stringify(watch.state) : null,
      row.due,
      row.kind === "remind" ? row.handled : null,
      row.madeAt,
    );
    this.#all().set(row.id, row);
  }

  /** A device has another key now, and is the same one. */
  rekey(before: string, key: string): void {
    for (const row of this.all()) {
      if (row.kind !== "watch" || row.rule.source.of === "bridge" || row.rule.source.key !== before) continue;
      this.put({ ...row, rule: { ...row.rule, source: { ...row.rule.source, key } } });
    }
  }

  remove(id: string): void {
    const row = this.get(id);
    if (row?.kind === "watch" && isPlaced(row)) this.#moved.set(id, row.rule.source);
    this.#sql.exec("DELETE FROM rule WHERE id = ?", id);
    this.#sql.exec("DELETE FROM firing WHERE rule = ?", id);
    this.#all().delete(id);
  }

  /** A firing, or the end of one. */
  noteChange(rule: string, change: RuleChange): void {
    if (change.state === "firing") this.noteFiring(rule, change.occurrence, change.at, change.value);
    if (change.state === "idle" && change.since !== undefined)
      this.#sql.exec(
        "UPDATE firing SET until = ? WHERE rule = ? AND occurrence = ? AND until IS NULL",
        change.until ?? change.at,
        rule,
        change.occurrence,
      );
  }

  noteFiring(rule: string, occurrence: number, at: number, value?: RuleChange["value"]): void {
    this.#sql.exec(
      "INSERT OR IGNORE INTO firing (rule, occurrence, at, value) VALUES (?, ?, ?, ?)",
      rule,
      occurrence,
      at,
      value === undefined ? null : JSON.stringify(value),
    );
    this.#sql.exec(
      `DELETE FROM firing WHERE rule = ? AND occurrence IN (
         SELECT occurrence FROM firing WHERE rule = ? ORDER BY occurrence DESC LIMIT -1 OFFSET ?)`,
      rule,
      rule,
      FIRINGS_KEPT,
    );
  }

  acked(rule: string, occurrence: number, by: string): void {
    this.#sql.exec("UPDATE firing SET acked_by = ? WHERE rule = ? AND occurrence = ?", by, rule, occurrence);
  }

  /** The newest first. */
  firings(rule: string, limit: number): StoredFiring[] {
    return this.#sql
      .exec<StoredFiring>(
        "SELECT occurrence, at, until, value, acked_by FROM firing WHERE rule = ? ORDER BY occurrence DESC LIMIT ?",
        rule,
        limit,
      )
      .toArray();
  }

  #pendingRows(): Map<string, PendingNotice> {
    this.#pending ??= new Map(
      this.#sql
        .exec<NoticeRow>("SELECT * FROM notice ORDER BY made_at")
        .toArray()
        .map(({ id, conversation, rule, notice, made_at: madeAt }) => [
          id,
          // SAFETY: `addNotice` wrote it.
          { id, conversation, rule, tells: JSON.parse(notice) as ToTell, madeAt },
        ]),
    );
    return this.#pending;
  }

  pending(): PendingNotice[] {
    return [...this.#pendingRows().values()];
  }

  addNotice(notice: PendingNotice): void {
    const { id, conversation, rule, tells, madeAt } = notice;
    this.#sql.exec(
      "INSERT OR IGNORE INTO notice (id, conversation, rule, notice, made_at) VALUES (?, ?, ?, ?, ?)",
      id,
      conversation,
      rule,
      JSON.stringify(tells),
      madeAt,
    );
    this.#pendingRows().set(id, notice);
  }

  removeNotice(id: string): void {
    this.#sql.exec("DELETE FROM notice WHERE id = ?", id);
    this.#pendingRows().delete(id);
  }
}

/** It is evaluated by the bridge, or by an agent. */
export function isPlaced(row: RuleRow): row is WatchRow {
  if (row.kind !== "watch" || row.status !== "active") return false;
  const { of } = row.rule.source;
  return of === "agent" || of === "hosted";
}

function versionThere(row: RuleRow | undefined): number {
  return row && isPlaced(row) ? row.rule.version : 0;
}

type SqlRow = {
  id: string;
  rule: string;
  maker: string;
  status: string;
  why: string | null;
  record: string | null;
  state: string | null;
  due: number | null;
  handled: number | null;
  made_at: number;
};
type NoticeRow = { id: string; conversation: string; rule: string; notice: string; made_at: number };

/** SAFETY of its casts: `put` wrote the row. */
function toRow(row: SqlRow): RuleRow {
  const common = {
    id: row.id,
    maker: JSON.parse(row.maker) as Maker,
    status: row.status as Common["status"],
    why: row.why,
    due: row.due,
    madeAt: row.made_at,
  };
  if (row.record === null || row.state === null)
    return { ...common, kind: "remind", rule: JSON.parse(row.rule) as Reminder, handled: row.handled ?? 0 };
  return {
    ...common,
    kind: "watch",
    rule: JSON.parse(row.rule) as WatchRule,
    record: JSON.parse(row.record) as DeliveryRecord,
    state: JSON.parse(row.state) as RuleState,
  };
}
