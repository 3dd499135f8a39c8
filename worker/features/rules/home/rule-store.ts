/** The rows of rules, of their firings, and of what has to be told. They are few, so all rules are held in memory. */

import type { RuleChange } from "@edgecall/core/protocol/rules.ts";
import type { DeliveryRecord } from "@edgecall/core/rules/delivery.ts";
import type { RuleState } from "@edgecall/core/rules/evaluate.ts";
import type { SentMessage } from "@edgecall/core/rules/limits.ts";
import type { Reminder } from "@edgecall/core/rules/reminder.ts";
import type { WatchRule, WatchSource } from "@edgecall/core/rules/watch-rule.ts";
import { HOUR_MS } from "@edgecall/core/time/zone.ts";
import type { Address, Origin } from "../../../kernel/api/turns.ts";
import { slot } from "../../../kernel/home/slot.ts";
import { SqlStore } from "../../../kernel/sql-store.ts";

/** @property conversation null: a client without one @property call the model's call that made the rule, by which its repeat is known @property tainted a stranger's words may have asked for it */
export type Maker = Pick<Origin, "principal" | "role" | "channel" | "limits"> & {
  conversation: string | null;
  call: string;
  tainted: boolean;
  reply?: Address;
};

/**
 * What was said of a rule.
 * @property to recipients who heard of the newest firing @property at times of the messages of the last hour @property noisy_at when
 *   its agent was last told of as noisy
 */
export type Said = { to: string[]; at: number[]; noisy_at?: number };

/** @property to as the column `to_whom` */
type Common = {
  id: string;
  maker: Maker;
  to: string | null;
  said: Said;
  status: "active" | "paused" | "orphaned";
  why: string | null;
  due: number | null;
  madeAt: number;
};
export type WatchRow = Common & { kind: "watch"; rule: WatchRule; record: DeliveryRecord; state: RuleState };
export type ReminderRow = Common & { kind: "remind"; rule: Reminder; handled: number };
export type RuleRow = WatchRow | ReminderRow;

/** `value`: JSON. */
type StoredFiring = {
  occurrence: number;
  at: number;
  until: number | null;
  value: string | null;
  acked_by: string | null;
};

/** Of a rule's history, and of firings that are kept. */
const FIRINGS_KEPT = 100;

/**
 * @property times when an agent said something unasked within the last hour @property noisyAt when that was last told to be too much
 * @property said the messages that were made of it
 */
export type Unsolicited = { times: number[]; noisyAt: number; said: Said };
const NOTHING_UNASKED: Unsolicited = { times: [], noisyAt: 0, said: { to: [], at: [] } };

class RuleStore extends SqlStore {
  #rows: Map<string, RuleRow> | undefined;
  #sent: Sent | undefined;
  /** Watches of which their maker is about to hear whether they were made. */
  readonly beingMade = new Set<string>();
  /** Agents that are being told which rules they have; true: they have to be told others once more. */
  readonly syncing = new Map<string, boolean>();
  /** Rules that other places have to learn of, with the place. */
  #moved = new Map<string, WatchSource>();

  #all(): Map<string, RuleRow> {
    this.#rows ??= new Map(
      this.sql.all<SqlRow>("SELECT * FROM rule ORDER BY made_at").map((row) => [row.id, toRow(row)]),
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
  drainMoved(): Map<string, WatchSource> {
    const moved = this.#moved;
    this.#moved = new Map();
    return moved;
  }

  put(row: RuleRow): void {
    const watch = row.kind === "watch" ? row : undefined;
    const before = this.get(row.id);
    if (watch && versionThere(before) !== versionThere(row)) this.#moved.set(row.id, watch.rule.source);
    this.sql.insert("OR REPLACE INTO rule", {
      id: row.id,
      rule: JSON.stringify(row.rule),
      maker: JSON.stringify(row.maker),
      to_whom: row.to,
      status: row.status,
      why: row.why,
      record: watch ? JSON.stringify(watch.record) : null,
      state: watch ? JSON.stringify(watch.state) : null,
      said: JSON.stringify(row.said),
      due: row.due,
      handled: row.kind === "remind" ? row.handled : null,
      made_at: row.madeAt,
    });
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
    this.sql.exec("DELETE FROM rule WHERE id = ?", id);
    this.sql.exec("DELETE FROM firing WHERE rule = ?", id);
    this.#all().delete(id);
  }

  /** A firing, or the end of one. */
  noteChange(rule: string, change: RuleChange, now: number): void {
    if (change.state === "firing") this.noteFiring(rule, change.occurrence, change.at, now, change.value);
    if (change.state === "idle" && change.since !== undefined)
      this.sql.exec`UPDATE firing SET until = ${change.until ?? change.at}
        WHERE rule = ${rule} AND occurrence = ${change.occurrence} AND until IS NULL`;
  }

  noteFiring(rule: string, occurrence: number, at: number, now: number, value?: RuleChange["value"]): void {
    this.sql.insert("OR IGNORE INTO firing", {
      rule,
      occurrence,
      at,
      taken_at: now,
      value: value === undefined ? null : JSON.stringify(value),
    });
    this.sql.exec`DELETE FROM firing WHERE rule = ${rule} AND occurrence IN ( SELECT occurrence FROM firing
      WHERE rule = ${rule} ORDER BY occurrence DESC LIMIT -1 OFFSET ${FIRINGS_KEPT})`;
  }

  acked(rule: string, occurrence: number, by: string): void {
    this.sql.exec("UPDATE firing SET acked_by = ? WHERE rule = ? AND occurrence = ?", by, rule, occurrence);
  }

  /** The newest first. */
  firings(rule: string, limit: number): StoredFiring[] {
    return this.sql.all<StoredFiring>`SELECT occurrence, at, until, value, acked_by FROM firing
      WHERE rule = ${rule} ORDER BY occurrence DESC LIMIT ${limit}`;
  }

  /** When Home learned of firings of these rules since then, the oldest first. */
  acceptedSince(rules: readonly string[], since: number): number[] {
    return this.sql.all<{ taken_at: number }>`SELECT taken_at FROM firing
      WHERE taken_at > ${since} AND rule IN (SELECT value FROM json_each(${JSON.stringify(rules)}))
      ORDER BY taken_at`.map(({ taken_at }) => taken_at);
  }

  /** Messages of the last hour, the oldest first, and when each recipient was last told something. */
  sent(): Sent {
    this.#sent ??= sentOf([...this.all(), ...this.#unasked()]);
    return this.#sent;
  }

  noteSent(message: SentMessage, recipients: readonly string[]): void {
    const { messages, toldAt } = this.sent();
    const recent = messages.filter(({ at }) => at > message.at - HOUR_MS);
    messages.splice(0, messages.length, ...recent, message);
    for (const recipient of recipients) toldAt.set(recipient, message.at);
  }

  #unasked(): Array<Unsolicited & { agent: string }> {
    return this.sql
      .all<{ agent: string; said: string }>("SELECT agent, said FROM unasked")
      .map(({ agent, said }) => ({
        // A row of an earlier version does not say what was told.
        ...NOTHING_UNASKED,
        // SAFETY: `noteUnsolicited` wrote it.
        ...(JSON.parse(said) as Unsolicited),
        agent,
      }));
  }

  unsolicitedOf(agent: string): Unsolicited {
    return this.#unasked().find((row) => row.agent === agent) ?? NOTHING_UNASKED;
  }

  noteUnsolicited(agent: string, said: Unsolicited): void {
    this.sql.exec("INSERT OR REPLACE INTO unasked (agent, said) VALUES (?, ?)", agent, JSON.stringify(said));
  }

  /** Since when the bridge was gone (epoch ms) when that was told. */
  notifiedGone(): number | null | undefined {
    return this.sql.first<{ gone_told: number | null }>("SELECT gone_told FROM bridge")?.gone_told;
  }

  noteGone(since: number): void {
    this.sql.exec("UPDATE bridge SET gone_told = ?", since);
  }
}

/** It is evaluated by the bridge, or by an agent. */
export function isPlaced(row: RuleRow): row is WatchRow {
  if (row.kind !== "watch" || row.status !== "active") return false;
  const { of } = row.rule.source;
  return of === "agent" || of === "hosted";
}

/** @returns the version of a rule that is evaluated elsewhere; 0: it is not there */
export function versionThere(row: RuleRow | undefined): number {
  return row && isPlaced(row) ? row.rule.version : 0;
}

type Sent = { messages: SentMessage[]; toldAt: Map<string, number> };

/** Of an object that was rebuilt, as far as its rows tell: several that spoke in the same moment were one message. */
function sentOf(rows: ReadonlyArray<RuleRow | Unsolicited>): Sent {
  const times = new Map<number, SentMessage>();
  const toldAt = new Map<string, number>();
  for (const row of rows) {
    const critical = "rule" in row && row.kind === "watch" && row.rule.severity === "critical";
    for (const at of row.said.at)
      times.set(at, { at, critical: critical || times.get(at)?.critical === true });
    const last = Math.max(...row.said.at, 0);
    for (const recipient of row.said.to) toldAt.set(recipient, Math.max(last, toldAt.get(recipient) ?? 0));
  }
  return { messages: [...times.values()].sort((a, b) => a.at - b.at), toldAt };
}

type SqlRow = {
  id: string;
  rule: string;
  maker: string;
  to_whom: string | null;
  status: string;
  why: string | null;
  record: string | null;
  state: string | null;
  said: string;
  due: number | null;
  handled: number | null;
  made_at: number;
};

/** SAFETY of its casts: `put` wrote the row. */
function toRow(row: SqlRow): RuleRow {
  const common = {
    id: row.id,
    maker: JSON.parse(row.maker) as Maker,
    to: row.to_whom,
    said: JSON.parse(row.said) as Said,
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

export const rulesOf = slot(({ ctx }) => new RuleStore(ctx.storage));
