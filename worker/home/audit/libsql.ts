/**
 * A libSQL server (Turso's, or a `sqld` of your own) as a store of the record: one request for a page, "Hrana over HTTP"
 * version 2. Not by @libsql/client, which would be a tenth of the whole Worker for this one POST (docs/architecture.md).
 */
import { checkJson, z } from "@edgecall/core/protocol/parse.ts";
import { readUpTo } from "../../read-up-to.ts";
import type { StoreSettings } from "../../settings/audit.ts";
import type { AuditRecord, AuditStore } from "./audit-store.ts";

const REQUEST_TIMEOUT_MS = 30_000;
/** It answers with a few numbers. */
const ANSWER_MAX_BYTES = 64 * 1024;
const PROBLEM_CHARS = 200;

/** Said with every page: it costs nothing where they are there. A column more is a table of another name. */
const TABLES = `
CREATE TABLE IF NOT EXISTS edgecall_audit (id TEXT PRIMARY KEY, home TEXT NOT NULL, seq INTEGER NOT NULL,
  timestamp TEXT NOT NULL, agent TEXT NOT NULL, tool TEXT NOT NULL, result TEXT NOT NULL, line TEXT NOT NULL) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS edgecall_audit_time ON edgecall_audit (home, timestamp);
CREATE VIEW IF NOT EXISTS edgecall_calls AS SELECT home, timestamp, agent, tool, result, line ->> 'error_type' AS error_type,
  line ->> 'error' AS error, line ->> 'exit_code' AS exit_code, line ->> 'elapsed_ms' AS elapsed_ms,
  line ->> '$.caller.principal' AS principal, line ->> '$.caller.channel' AS channel,
  line ->> '$.approval.approved' AS approved, line ->> '$.approval.by' AS approved_by,
  line -> 'parameters' AS parameters, line ->> 'call_id' AS call_id FROM edgecall_audit;`;

/** The whole page is one value, so one statement takes it, wholly or not at all. Not OR IGNORE, which would hide other faults. */
const INSERT = `INSERT INTO edgecall_audit SELECT value ->> 'id', value ->> 'home', value ->> 'seq', line ->> 'timestamp',
  line ->> 'agent_id', line ->> 'tool', line ->> 'result', line
  FROM (SELECT value, value -> 'line' AS line FROM json_each(?)) WHERE true ON CONFLICT (id) DO NOTHING`;

const Said = z.object({
  results: z.array(z.looseObject({ type: z.string(), error: z.optional(z.object({ message: z.string() })) })),
});

export function libsqlStore({ url, token }: StoreSettings): AuditStore {
  return {
    async keep(records) {
      const stmt = { sql: INSERT, args: [{ type: "text", value: textOf(records) }], want_rows: false };
      const requests = [{ type: "sequence", sql: TABLES }, { type: "execute", stmt }, { type: "close" }];
      const problem = await post(`${url}/v2/pipeline`, token, JSON.stringify({ requests }));
      if (problem === undefined) return;
      // Cut after that: half a token is told by nobody either.
      throw new Error((token ? problem.replaceAll(token, "[secret]") : problem).slice(0, PROBLEM_CHARS));
    },
  };
}

/** Half a character (of a text that was cut) would be no UTF-8 there, and whoever reads it gets an error. */
function textOf(records: readonly AuditRecord[]): string {
  return JSON.stringify(records).replace(/\\(ud[89a-f]..|.)/g, (found) =>
    found.length > 2 ? "\\ufffd" : found,
  );
}

/** @returns what is wrong; undefined: it has them */
async function post(url: string, token: string | undefined, body: string): Promise<string | undefined> {
  try {
    const response = await fetch(url, {
      method: "POST",
      headers: { "content-type": "application/json", ...(token && { authorization: `Bearer ${token}` }) },
      body,
      redirect: "manual",
      signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS),
    });
    const bytes = await readUpTo(response, ANSWER_MAX_BYTES);
    if (response.status !== 200) return `AUDIT_URL answered ${response.status}`;
    const said = checkJson(Said, new TextDecoder().decode(bytes));
    const [tables, inserted] = said.ok ? said.value.results : [];
    if (inserted?.type === "ok") return undefined;
    const why = tables?.error ?? inserted?.error;
    return why ? `AUDIT_URL: ${why.message}` : "AUDIT_URL answers as no libSQL server does";
  } catch (error) {
    // Not its own words: they may hold the address.
    return `AUDIT_URL: no answer (${error instanceof Error ? error.name : "Error"})`;
  }
}
