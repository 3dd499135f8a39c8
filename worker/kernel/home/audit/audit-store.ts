/**
 * The record of calls at Home: what was done on each device and by the gateway's own tools, by whom, and with what result.
 *
 * Rows are in the order in which they came, each with the sum of the bytes up to it. So the rows that are too old or too many
 * are found from the two ends, and the outlet goes on where it was.
 */

import type { AuditLine } from "@edgecall/core/protocol/audit.ts";
import type { Variables } from "@edgecall/core/protocol/gateway-variables.ts";
import type { SinkState } from "../../api/answers.ts";
import type { AuditFilter, AuditPage, AuditQuery } from "../../api/audit.ts";
import { logError } from "../../log.ts";
import { readAuditSettings } from "../../settings/audit.ts";
import { SqlStore } from "../../sql-store.ts";
import { slot } from "../slot.ts";
import { type SinkPlace, SinkRow } from "./sink-row.ts";

/** A device's clock may be ahead by so much. Apart from that, no line is newer than its row. */
const CLOCK_AHEAD_MS = 86_400_000;
/** Characters of rows that are taken out at once. One row has at most 100 lines of 4,096. */
const PAGE_CHARS = 128_000;

export class AuditStore extends SqlStore {
  readonly #env: Variables;
  /** The outlet is asking the outside store right now. In memory only. */
  isSending = false;
  /** Until when a device brings its lines within seconds, epoch ms. In memory only. */
  readonly followedUntil = new Map<string, number>();
  /** Bytes by agent, read once: this class alone writes them. */
  #shares: Map<string, number> | undefined;

  constructor(storage: DurableObjectStorage, env: Variables) {
    super(storage);
    this.#env = env;
  }

  /**
   * Adds a batch. One with the same id is replaced, if its lines differ.
   * @param agent the agent of the topic; the lines' own `agent_id` is overwritten
   */
  add(agent: string, id: string, lines: readonly AuditLine[], now = Date.now()): void {
    const times = lines.map(({ timestamp }) => timestamp).sort();
    if (times.length === 0) return;
    const text = JSON.stringify(lines.map((line) => ({ ...line, agent_id: agent })));
    const bytes = new TextEncoder().encode(text).length;
    const newest = this.#end("DESC");
    const row = [
      Math.max(now, (newest?.at ?? 0) + 1),
      (newest?.upto ?? 0) + bytes,
      times[0] ?? "",
      times.at(-1) ?? "",
      text,
    ];
    const isNew =
      this.sql.all(
        `INSERT INTO audit (at, upto, first_at, last_at, lines, agent, id) VALUES (?, ?, ?, ?, ?, ?, ?)
           ON CONFLICT (agent, id) DO NOTHING RETURNING at`,
        ...row,
        agent,
        id,
      ).length > 0;
    this.#prune(now, new Map([[agent, isNew ? bytes : this.#replace(row, agent, id, bytes)]]));
  }

  /** @returns how many bytes more it has than the batch before; 0 if the lines are the same */
  #replace(row: Array<string | number>, agent: string, id: string, bytes: number): number {
    const { before } = this.sql.one<{ before: number }>(
      "SELECT length(CAST(lines AS BLOB)) AS before FROM audit WHERE agent = ? AND id = ?",
      agent,
      id,
    );
    const changed = this.sql.all(
      `UPDATE audit SET at = ?, upto = ?, first_at = ?, last_at = ?, lines = ?
         WHERE agent = ? AND id = ? AND lines <> ? RETURNING at`,
      ...row,
      agent,
      id,
      row.at(-1) ?? "",
    );
    return changed.length > 0 ? bytes - before : 0;
  }

  /** @returns lines, the newest first */
  find({ limit, ...filter }: AuditQuery): AuditLine[] {
    let found: AuditLine[] = [];
    const since = Date.parse(filter.since ?? "") || 0;
    for (const { at, lines } of this.#rows(since - CLOCK_AHEAD_MS, filter, "DESC")) {
      const last = found[limit - 1];
      // Lines of rows before that are older than all of these.
      if (last && last.timestamp > new Date(at + CLOCK_AHEAD_MS).toISOString()) break;
      const more = lines.filter(meets(filter));
      if (more.length === 0) continue;
      found = [...found, ...more].sort((a, b) => (a.timestamp < b.timestamp ? 1 : -1)).slice(0, limit);
    }
    return found;
  }

  /** Lines in the order in which they came, a page at a time. @param after that of the page before; 0: from the beginning */
  page(after: number, filter: AuditFilter = {}): AuditPage {
    const page: AuditPage = { batches: [], after, more: false };
    let chars = 0;
    for (const { at, lines, size } of this.#rows(after + 1, filter, "ASC")) {
      if (chars > 0 && chars + size > PAGE_CHARS) return { ...page, more: true };
      chars += size;
      page.after = at;
      const met = lines.filter(meets(filter));
      if (met.length > 0) page.batches.push({ at, lines: met });
    }
    return page;
  }

  /** How far the outside store has the record; undefined: no store is set. */
  sink(): SinkRow | undefined {
    const store = this.#store();
    return store && new SinkRow(this.sql, store);
  }

  /** When the oldest row that the store does not have came, epoch ms. */
  waitingSince({ sentTo }: SinkPlace): number | undefined {
    return this.sql.first<{ at: number }>("SELECT at FROM audit WHERE at > ? ORDER BY at LIMIT 1", sentTo)
      ?.at;
  }

  sinkState(): SinkState | undefined {
    const place = this.sink()?.get();
    if (!place) return undefined;
    const { sentTo, problem, lost } = place;
    const since = this.waitingSince(place) ?? null;
    const { waiting } = this.sql.one<{ waiting: number }>(
      `SELECT COALESCE((SELECT upto FROM audit ORDER BY at DESC LIMIT 1) -
           (SELECT upto - length(CAST(lines AS BLOB)) FROM audit WHERE at > ? ORDER BY at LIMIT 1), 0) AS waiting`,
      sentTo,
    );
    return { waiting, since, problem, lost };
  }

  /**
   * Deletes rows that are too old, and rows that are too many: then the oldest of the agent that has most bytes, so that an agent
   * that writes without end pushes out its own rows. A row that the outside store does not have yet is never too old. If it
   * has to go because there are too many, it is counted as lost.
   */
  prune(now: number): void {
    this.#prune(now, new Map());
  }

  /** @param changes bytes by agent, to be stored together with those of this pruning: one row each */
  #prune(now: number, changes: Map<string, number>): void {
    const settings = readAuditSettings(this.#env);
    // With wrong settings it is not known what to delete.
    if (!settings.ok) {
      this.#storeShares(changes);
      return;
    }
    const { keepMs, keepBytes } = settings.value;
    const outlet = this.sink();
    const waiting = outlet ? outlet.get().sentTo + 1 : Number.MAX_SAFE_INTEGER;
    this.#delete(changes, "at < ?", Math.min(now - keepMs, waiting));
    let lost = 0;
    const next = () => this.#excess(keepBytes, changes);
    for (let at = next(); at !== undefined; at = next())
      for (const { lines } of this.#delete(changes, "at = ?", at)) if (at >= waiting) lost += lines;
    this.#storeShares(changes);
    if (outlet && lost > 0) this.#countLost(outlet, lost);
  }

  /** The oldest row of the agent that has most bytes, if enough would be left without it. */
  #excess(keepBytes: number, changes: ReadonlyMap<string, number>): number | undefined {
    const shares = new Map(this.#readShares());
    for (const [agent, bytes] of changes) shares.set(agent, (shares.get(agent) ?? 0) + bytes);
    let sum = 0;
    let most: [agent: string, bytes: number] = ["", 0];
    for (const share of shares) {
      sum += share[1];
      if (share[1] > most[1]) most = share;
    }
    if (sum <= keepBytes) return undefined;
    // `+` keeps SQLite from the index of the agent, which would sort all its rows; in the order of the rows, one comes soon.
    const [oldest] = this.sql.all<{ at: number; bytes: number }>`SELECT at,
      length(CAST(lines AS BLOB)) AS bytes FROM audit WHERE +agent = ${most[0]} ORDER BY at LIMIT 1`;
    return oldest && sum - oldest.bytes >= keepBytes ? oldest.at : undefined;
  }

  #delete(changes: Map<string, number>, where: string, value: number): Array<{ at: number; lines: number }> {
    const gone = this.sql.all<{ at: number; agent: string; bytes: number; lines: number }>(
      `DELETE FROM audit WHERE ${where}
         RETURNING at, agent, length(CAST(lines AS BLOB)) AS bytes, json_array_length(lines) AS lines`,
      value,
    );
    for (const { agent, bytes } of gone) changes.set(agent, (changes.get(agent) ?? 0) - bytes);
    return gone;
  }

  #readShares(): Map<string, number> {
    this.#shares ??= new Map(
      this.sql
        .all<{ agent: string; bytes: number }>("SELECT agent, bytes FROM audit_share")
        .map(({ agent, bytes }) => [agent, bytes]),
    );
    return this.#shares;
  }

  #storeShares(changes: ReadonlyMap<string, number>): void {
    const shares = this.#readShares();
    for (const [agent, bytes] of changes) {
      if (bytes === 0) continue;
      shares.set(agent, (shares.get(agent) ?? 0) + bytes);
      this.sql.exec`INSERT INTO audit_share (agent, bytes)
        VALUES (${agent}, ${bytes}) ON CONFLICT (agent) DO UPDATE SET bytes = bytes + excluded.bytes`;
      if (bytes < 0) this.sql.exec("DELETE FROM audit_share WHERE agent = ? AND bytes <= 0", agent);
    }
  }

  #countLost(outlet: SinkRow, lines: number): void {
    outlet.put({ ...outlet.get(), lost: outlet.get().lost + lines });
    logError("audit.lost", new Error("AUDIT_URL did not take them before there were too many"), { lines });
  }

  #store() {
    const settings = readAuditSettings(this.#env);
    return settings.ok ? settings.value.store : undefined;
  }

  #end(order: "ASC" | "DESC"): { at: number; upto: number } | undefined {
    return this.sql.first<{ at: number; upto: number }>(
      `SELECT at, upto FROM audit ORDER BY at ${order} LIMIT 1`,
    );
  }

  /** Reads row by row, since all rows may be more than an object's memory. @param from the first place */
  *#rows(from: number, { agent, since = "", until = "9999" }: AuditFilter, order: "ASC" | "DESC") {
    const rows = this.sql.exec<{ at: number; lines: string }>(
      `SELECT at, lines FROM audit WHERE at >= ? AND last_at >= ? AND first_at < ? AND (? IS NULL OR agent = ?)
       ORDER BY at ${order}`,
      from,
      since,
      until,
      agent ?? null,
      agent ?? null,
    );
    // SAFETY: add() wrote it, from lines that were checked.
    for (const { at, lines } of rows)
      yield { at, size: lines.length, lines: JSON.parse(lines) as AuditLine[] };
  }
}

function meets({
  tool,
  result,
  chain,
  since = "",
  until = "9999",
}: AuditFilter): (line: AuditLine) => boolean {
  return (line) =>
    line.timestamp >= since &&
    line.timestamp < until &&
    (tool === undefined || line.tool === tool) &&
    (result === undefined || line.result === result) &&
    (chain === undefined || isOf(chain, line));
}

function isOf(chain: string, { call_id, request_id, caller }: AuditLine): boolean {
  return [call_id, request_id, (caller.chain as { id?: unknown } | undefined)?.id].includes(chain);
}

export const auditOf = slot(({ ctx, env }) => new AuditStore(ctx.storage, env));
