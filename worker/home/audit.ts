/**
 * The record of calls at Home: what was done on each device and by the gateway's own tools, by whom, and what came of it.
 *
 * Rows stand in the order in which they came, each with the sum of the bytes up to it: so what is too old or too much
 * is found by its two ends, and whoever takes the record elsewhere goes on where it was.
 */
import type { AuditLine } from "@edgecall/core/protocol/audit.ts";
import type { OutletState } from "../answers.ts";
import { type OutletPlace, OutletRow } from "../audit/outlet-row.ts";
import { type AuditVariables, readAuditSettings } from "../audit/settings.ts";
import { logError } from "../log.ts";

/** In place of an agent's id, for what the gateway's own tools do; no agent can have it. */
export const GATEWAY_AGENT = "@gateway";

/** A device's clock may be ahead by so much; else none of its lines is newer than the row that brought it. */
const CLOCK_AHEAD_MS = 86_400_000;
/** Characters of rows that are taken out at once. One row has at most 100 lines of 4,096. */
const PAGE_CHARS = 128_000;

export type AuditFilter = {
  agent?: string | undefined;
  tool?: string | undefined;
  result?: "success" | "error" | undefined;
  /** ISO 8601, of the device's clock: from here on, and before. */
  since?: string | undefined;
  until?: string | undefined;
};
export type AuditQuery = AuditFilter & { limit: number };

/** @property at epoch ms when Home had it, made unique: its place in the record */
export type AuditBatch = { at: number; lines: AuditLine[] };
/** @property after the place of the last row that was looked at. @property more whether there are rows behind it */
export type AuditPage = { batches: AuditBatch[]; after: number; more: boolean };

export class Audit {
  readonly #sql: SqlStorage;
  readonly #env: AuditVariables;
  #tell: () => void = () => {};

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
    const newest = this.#end("DESC");
    this.#sql.exec(
      `INSERT INTO audit (at, upto, agent, id, first_at, last_at, lines) VALUES (?, ?, ?, ?, ?, ?, ?)
       ON CONFLICT (agent, id) DO UPDATE SET at = excluded.at, upto = excluded.upto, first_at = excluded.first_at,
         last_at = excluded.last_at, lines = excluded.lines WHERE lines <> excluded.lines`,
      Math.max(now, (newest?.at ?? 0) + 1),
      (newest?.upto ?? 0) + new TextEncoder().encode(text).length,
      agent,
      id,
      times[0],
      times.at(-1),
      text,
    );
    this.prune(now);
    if (this.#store()) this.#tell();
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
   * Forgets what is too old or too much, the oldest first. What a store still waits for is never too old, but too much
   * it may be: that is lost to it, and counted.
   */
  prune(now: number): void {
    const settings = readAuditSettings(this.#env);
    const newest = this.#end("DESC");
    // What is to be forgotten is not known while the settings are wrong.
    if (!settings.ok || !newest) return;
    const { keepMs, keepBytes } = settings.value;
    const outlet = this.outlet();
    const waiting = outlet ? outlet.get().sentTo + 1 : Number.MAX_SAFE_INTEGER;
    const kept = this.#sql
      .exec<{ at: number }>(
        "SELECT at FROM audit WHERE at >= ? AND upto > ? ORDER BY at LIMIT 1",
        Math.min(now - keepMs, waiting),
        newest.upto - keepBytes,
      )
      .toArray()[0];
    const until = kept?.at ?? newest.at + 1;
    if (outlet && waiting < until) this.#lose(outlet, waiting, until);
    this.#sql.exec("DELETE FROM audit WHERE at < ?", until);
  }

  #lose(outlet: OutletRow, from: number, until: number): void {
    const { lost } = this.#sql
      .exec<{ lost: number }>(
        "SELECT COALESCE(SUM(json_array_length(lines)), 0) AS lost FROM audit WHERE at >= ? AND at < ?",
        from,
        until,
      )
      .one();
    if (lost === 0) return;
    outlet.put({ ...outlet.get(), lost: outlet.get().lost + lost });
    logError("audit.lost", new Error("AUDIT_URL did not take them before there were too many"), {
      lines: lost,
    });
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
