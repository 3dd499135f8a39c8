/** The record of calls at Home: what was done on each device and by the gateway's own tools, by whom, and what came of it. */
import type { AuditLine } from "@edgecall/core/protocol/audit.ts";

/** What is kept of all devices together; the oldest goes first. */
const KEEP_DAYS = 90;
const KEEP_CHARS = 50_000_000;
/** Old rows are looked for once in so many batches: each look reads all of them. */
const PRUNE_EVERY = 50;

/** In place of an agent's id, for what the gateway's own tools do; no agent can have it. */
export const GATEWAY_AGENT = "@gateway";

export type AuditQuery = {
  agent?: string | undefined;
  tool?: string | undefined;
  result?: "success" | "error" | undefined;
  /** ISO 8601, of the device's clock: from here on, and before. */
  since?: string | undefined;
  until?: string | undefined;
  limit: number;
};

type BatchRow = { lines: string };

export class Audit {
  readonly #sql: SqlStorage;
  #added = 0;

  constructor(storage: DurableObjectStorage) {
    this.#sql = storage.sql;
  }

  /** @param agent by its topic: what the lines say of it counts for nothing */
  add(agent: string, id: string, lines: readonly AuditLine[]): void {
    const times = lines.map(({ timestamp }) => timestamp).sort();
    if (times.length === 0) return;
    this.#sql.exec(
      "INSERT OR REPLACE INTO audit (agent, id, first_at, last_at, lines) VALUES (?, ?, ?, ?, ?)",
      agent,
      id,
      times[0],
      times.at(-1),
      JSON.stringify(lines.map((line) => ({ ...line, agent_id: agent }))),
    );
    this.#added += 1;
    if (this.#added % PRUNE_EVERY === 1) this.#prune(Date.now());
  }

  /** The newest first. */
  find({ agent, tool, result, since = "", until = "9999", limit }: AuditQuery): AuditLine[] {
    const found: AuditLine[] = [];
    const rows = this.#sql.exec<BatchRow & { first_at: string }>(
      "SELECT lines, first_at FROM audit WHERE last_at >= ? AND first_at < ? AND (? IS NULL OR agent = ?) ORDER BY last_at DESC",
      since,
      until,
      agent ?? null,
      agent ?? null,
    );
    for (const row of rows) {
      // SAFETY: add() wrote it, from lines that were checked.
      const lines = JSON.parse(row.lines) as AuditLine[];
      found.push(
        ...lines.filter(
          (line) =>
            line.timestamp >= since &&
            line.timestamp < until &&
            (tool === undefined || line.tool === tool) &&
            (result === undefined || line.result === result),
        ),
      );
      // Batches of several devices overlap in time; a few more than wanted are sorted out below.
      if (found.length >= limit + OVERLAP) break;
    }
    return found.sort((a, b) => (a.timestamp < b.timestamp ? 1 : -1)).slice(0, limit);
  }

  #prune(now: number): void {
    const oldest = new Date(now - KEEP_DAYS * 86_400_000).toISOString();
    this.#sql.exec("DELETE FROM audit WHERE last_at < ?", oldest);
    const rows = this.#sql
      .exec<{ agent: string; id: string; chars: number }>(
        "SELECT agent, id, length(lines) AS chars FROM audit ORDER BY last_at DESC",
      )
      .toArray();
    let total = 0;
    for (const { agent, id, chars } of rows) {
      total += chars;
      if (total > KEEP_CHARS) this.#sql.exec("DELETE FROM audit WHERE agent = ? AND id = ?", agent, id);
    }
  }
}

/** As many lines as a batch holds. */
const OVERLAP = 100;
