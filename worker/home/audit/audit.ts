/**
 * The record of calls at Home: what was done on each device and by the gateway's own tools, by whom, and what came of it.
 *
 * Rows stand in the order in which they came, each with the sum of the bytes up to it: so what is too old or too much
 * is found by its two ends, and whoever takes the record elsewhere goes on where it was.
 */

import type { AuditLine } from "@edgecall/core/protocol/audit.ts";
import type { OutletState } from "../../api/answers.ts";
import type { AuditFilter, AuditPage, AuditQuery } from "../../api/audit.ts";
import { logError } from "../../log.ts";
import { type AuditVariables, readAuditSettings } from "../../settings/audit.ts";
import { type OutletPlace, OutletRow } from "./outlet-row.ts";

/** A device's clock may be ahead by so much; else none of its lines is newer than the row that brought it. */
const CLOCK_AHEAD_MS = 86_400_000;
/** Characters of rows that are taken out at once. One row has at most 100 lines of 4,096. */
const PAGE_CHARS = 128_000;

export class Audit {
  readonly #sql: SqlStorage;
  readonly #env: AuditVariables;
  #tell: () => void = () => {};
  /** Bytes by agent, read once: this class alone writes them. */
  #shares: Map<string, number> | undefined;

  constructor(storage: DurableObjectStorage, env: AuditVariables) {
    this.#sql = storage.sql;
    this.#env = env;
  }

  /** Told of each row that is added while there is a store for it. */
  whenAdded(tell: () => void): void {
    this.#tell = tell;
  }

  /**
   * Under the same id again it takes the place of itself, if it says anything else.
   * @param agent by its topic: what the lines say of it counts for nothing
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
      this.#sql
        .exec(
          `INSERT INTO audit (at, upto, first_at, last_at, lines, agent, id) VALUES (?, ?, ?, ?, ?, ?, ?)
           ON CONFLICT (agent, id) DO NOTHING RETURNING at`,
          ...row,
          agent,
          id,
        )
        .toArray().length > 0;
    this.#prune(now, new Map([[agent, isNew ? bytes : this.#replace(row, agent, id, bytes)]]));
    if (this.#store()) this.#tell();
  }

  /** @returns how many bytes more it has than the one before it; 0 where it says the same */
  #replace(row: Array<string | number>, agent: string, id: string, bytes: number): number {
    const { before } = this.#sql
      .exec<{ before: number }>(
        "SELECT length(CAST(lines AS BLOB)) AS before FROM audit WHERE agent = ? AND id = ?",
        agent,
        id,
      )
      .one();
    const changed = this.#sql
      .exec(
        `UPDATE audit SET at = ?, upto = ?, first_at = ?, last_at = ?, lines = ?
         WHERE agent = ? AND id = ? AND lines <> ? RETURNING at`,
        ...row,
        agent,
        id,
        row.at(-1) ?? "",
      )
      .toArray();
    return changed.length > 0 ? bytes - before : 0;
  }

  /** The newest first. */
  find({ limit, ...filter }: AuditQuery): AuditLine[] {
    let found: AuditLine[] = [];
    const since = Date.parse(filter.since ?? "") || 0;
    for (const { at, lines } of this.#rows(since - CLOCK_AHEAD_MS, filter, "DESC")) {
      const last = found[limit - 1];
      // Whatever was brought before that is older than all of these.
      if (last && last.timestamp > new Date(at + CLOCK_AHEAD_MS).toISOString()) break;
      const more = lines.filter(meets(filter));
      if (more.length === 0) continue;
      found = [...found, ...more].sort((a, b) => (a.timestamp < b.timestamp ? 1 : -1)).slice(0, limit);
    }
    return found;
  }

  /** In the order in which they came, a page at a time. @param after the page's before; 0: from the beginning */
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

  /** Where the store is; undefined: there is none. */
  outlet(): OutletRow | undefined {
    const store = this.#store();
    return store && new OutletRow(this.#sql, store);
  }

  /** When the oldest row came that the store does not have. */
  waitingSince({ sentTo }: OutletPlace): number | undefined {
    return this.#sql
      .exec<{ at: number }>("SELECT at FROM audit WHERE at > ? ORDER BY at LIMIT 1", sentTo)
      .toArray()[0]?.at;
  }

  outletState(): OutletState | undefined {
    const place = this.outlet()?.get();
    if (!place) return undefined;
    const { sentTo, problem, lost } = place;
    const since = this.waitingSince(place) ?? null;
    const { waiting } = this.#sql
      .exec<{ waiting: number }>(
        `SELECT COALESCE((SELECT upto FROM audit ORDER BY at DESC LIMIT 1) -
           (SELECT upto - length(CAST(lines AS BLOB)) FROM audit WHERE at > ? ORDER BY at LIMIT 1), 0) AS waiting`,
        sentTo,
      )
      .one();
    return { waiting, since, problem, lost };
  }

  /**
   * Forgets what is too old, and what is too much: then the oldest of the agent that has most, so that one that writes
   * without end pushes out its own. What a store still waits for is never too old, but too much it may be: that is lost to
   * it, and counted.
   */
  prune(now: number): void {
    this.#prune(now, new Map());
  }

  /** @param changes bytes by agent, to be noted with those that this makes: one row each */
  #prune(now: number, changes: Map<string, number>): void {
    const settings = readAuditSettings(this.#env);
    // What is to be forgotten is not known while the settings are wrong.
    if (!settings.ok) {
      this.#note(changes);
      return;
    }
    const { keepMs, keepBytes } = settings.value;
    const outlet = this.outlet();
    const waiting = outlet ? outlet.get().sentTo + 1 : Number.MAX_SAFE_INTEGER;
    this.#forget(changes, "at < ?", Math.min(now - keepMs, waiting));
    let lost = 0;
    const next = () => this.#tooMuch(keepBytes, changes);
    for (let at = next(); at !== undefined; at = next())
      for (const { lines } of this.#forget(changes, "at = ?", at)) if (at >= waiting) lost += lines;
    this.#note(changes);
    if (outlet && lost > 0) this.#lose(outlet, lost);
  }

  /** The place of the oldest row of who has most, while without it there is still as much as may be kept. */
  #tooMuch(keepBytes: number, changes: ReadonlyMap<string, number>): number | undefined {
    const shares = new Map(this.#readShares());
    for (const [agent, bytes] of changes) shares.set(agent, (shares.get(agent) ?? 0) + bytes);
    let sum = 0;
    let most: [agent: string, bytes: number] = ["", 0];
    for (const share of shares) {
      sum += share[1];
      if (share[1] > most[1]) most = share;
    }
    if (sum <= keepBytes) return undefined;
    // `+`: in the order of the rows, in which one of theirs comes soon, and not by the key of the agent, with a sort of all.
    const [oldest] = this.#sql
      .exec<{ at: number; bytes: number }>(
        "SELECT at, length(CAST(lines AS BLOB)) AS bytes FROM audit WHERE +agent = ? ORDER BY at LIMIT 1",
        most[0],
      )
      .toArray();
    return oldest && sum - oldest.bytes >= keepBytes ? oldest.at : undefined;
  }

  #forget(changes: Map<string, number>, where: string, value: number): Array<{ at: number; lines: number }> {
    const gone = this.#sql
      .exec<{ at: number; agent: string; bytes: number; lines: number }>(
        `DELETE FROM audit WHERE ${where}
         RETURNING at, agent, length(CAST(lines AS BLOB)) AS bytes, json_array_length(lines) AS lines`,
        value,
      )
      .toArray();
    for (const { agent, bytes } of gone) changes.set(agent, (changes.get(agent) ?? 0) - bytes);
    return gone;
  }

  #readShares(): Map<string, number> {
    this.#shares ??= new Map(
      this.#sql
        .exec<{ agent: string; bytes: number }>("SELECT agent, bytes FROM audit_share")
        .toArray()
        .map(({ agent, bytes }) => [agent, bytes]),
    );
    return this.#shares;
  }

  #note(changes: ReadonlyMap<string, number>): void {
    const shares = this.#readShares();
    for (const [agent, bytes] of changes) {
      if (bytes === 0) continue;
      shares.set(agent, (shares.get(agent) ?? 0) + bytes);
      this.#sql.exec(
        `INSERT INTO audit_share (agent, bytes) VALUES (?, ?)
         ON CONFLICT (agent) DO UPDATE SET bytes = bytes + excluded.bytes`,
        agent,
        bytes,
      );
      if (bytes < 0) this.#sql.exec("DELETE FROM audit_share WHERE agent = ? AND bytes <= 0", agent);
    }
  }

  #lose(outlet: OutletRow, lines: number): void {
    outlet.put({ ...outlet.get(), lost: outlet.get().lost + lines });
    logError("audit.lost", new Error("AUDIT_URL did not take them before there were too many"), { lines });
  }

  #store() {
    const settings = readAuditSettings(this.#env);
    return settings.ok ? settings.value.store : undefined;
  }

  #end(order: "ASC" | "DESC"): { at: number; upto: number } | undefined {
    return this.#sql
      .exec<{ at: number; upto: number }>(`SELECT at, upto FROM audit ORDER BY at ${order} LIMIT 1`)
      .toArray()[0];
  }

  /** Read one by one: the whole of them may be more than an object can hold. @param from the first place */
  *#rows(from: number, { agent, since = "", until = "9999" }: AuditFilter, order: "ASC" | "DESC") {
    const rows = this.#sql.exec<{ at: number; lines: string }>(
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

function meets({ tool, result, since = "", until = "9999" }: AuditFilter): (line: AuditLine) => boolean {
  return (line) =>
    line.timestamp >= since &&
    line.timestamp < until &&
    (tool === undefined || line.tool === tool) &&
    (result === undefined || line.result === result);
}
