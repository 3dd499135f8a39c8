/**
 * A libSQL server (Turso's, or a `sqld` of your own) as a store of the record. A page is one request, "Hrana over HTTP"
 * version 2. @libsql/client would be a tenth of the whole Worker for this one POST (docs/decisions/).
 */

import { checkJson, z } from "@edgecall/core/protocol/parse.ts";
import { withTimeLimit } from "@edgecall/core/time-limit.ts";
import { readUpTo } from "@edgecall/core/web/read-up-to.ts";
import type { AuditRecord, AuditSink } from "../../../kernel/home/audit/audit-sink.ts";
import type { StoreSettings } from "../../../kernel/settings/audit.ts";

const REQUEST_TIMEOUT_MS = 30_000;
/** The server answers with a few numbers. */
const ANSWER_MAX_BYTES = 64 * 1024;
const PROBLEM_CHARS = 200;

/** Sent with every page, which costs nothing if the tables exist. Another column needs a table of another name. */
const TABLES = `
CREATE TABLE IF NOT EXISTS edgecall_audit (id TEXT PRIMARY KEY, home TEXT NOT NULL, seq INTEGER NOT NULL,
  timestamp TEXT NOT NULL, agent TEXT NOT NULL, tool TEXT NOT NULL, result TEXT NOT NULL, line TEXT NOT NULL) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS edgecall_audit_time ON edgecall_audit (home, timestamp);
CREATE VIEW IF NOT EXISTS edgecall_calls AS SELECT home, timestamp, agent, tool, result, line ->> 'error_type' AS error_type,
  line ->> 'error' AS error, line ->> 'exit_code' AS exit_code, line ->> 'elapsed_ms' AS elapsed_ms,
  line ->> '$.caller.principal' AS principal, line ->> '$.caller.channel' AS channel,
  line ->> '$.approval.approved' AS approved, line ->> '$.approval.by' AS approved_by,
  line -> 'parameters' AS parameters, line ->> 'call_id' AS call_id FROM edgecall_audit;`;

/** The whole page is one value, so one statement stores it as a whole or not at all. OR IGNORE would hide other faults. */
const INSERT = `INSERT INTO edgecall_audit SELECT value ->> 'id', value ->> 'home', value ->> 'seq', line ->> 'timestamp',
  line ->> 'agent_id', line ->> 'tool', line ->> 'result', line
  FROM (SELECT value, value -> 'line' AS line FROM json_each(?)) WHERE true ON CONFLICT (id) DO NOTHING`;

const Answer = z.object({
  results: z.array(z.looseObject({ type: z.string(), error: z.optional(z.object({ message: z.string() })) })),
});

export function libsqlStore({ url, token }: StoreSettings): AuditSink {
  return {
    async keep(records) {
      const stmt = { sql: INSERT, args: [{ type: "text", value: textOf(records) }], want_rows: false };
      const requests = [{ type: "sequence", sql: TABLES }, { type: "execute", stmt }, { type: "close" }];
      const problem = await post(`${url}/v2/pipeline`, token, JSON.stringify({ requests }));
      if (problem === undefined) return;
      // The token is replaced before the cut, so that no half of it is left.
      throw new Error((token ? problem.replaceAll(token, "[secret]") : problem).slice(0, PROBLEM_CHARS));
    },
  };
}

/** Half a surrogate pair (of a text that was cut) would be invalid UTF-8 in the store, and a reader would get an error. */
function textOf(records: readonly AuditRecord[]): string {
  return JSON.stringify(records).replace(/\\(ud[89a-f]..|.)/g, (found) =>
    found.length > 2 ? "\\ufffd" : found,
  );
}

/** @returns what is wrong, in words; undefined: the server has the records */
async function post(url: string, token: string | undefined, body: string): Promise<string | undefined> {
  try {
    const [response, bytes] = await withTimeLimit(REQUEST_TIMEOUT_MS, async (signal) => {
      const headers = {
        "content-type": "application/json",
        ...(token && { authorization: `Bearer ${token}` }),
      };
      const answer = await fetch(url, { method: "POST", headers, body, redirect: "manual", signal });
      return [answer, await readUpTo(answer, ANSWER_MAX_BYTES)] as const;
    });
    if (response.status !== 200) return `AUDIT_URL answered ${response.status}`;
    const answer = checkJson(Answer, new TextDecoder().decode(bytes));
    const [tables, inserted] = answer.ok ? answer.value.results : [];
    if (inserted?.type === "ok") return undefined;
    const why = tables?.error ?? inserted?.error;
    return why ? `AUDIT_URL: ${why.message}` : "AUDIT_URL answers as no libSQL server does";
  } catch (error) {
    // The error's own message may hold the address.
    return `AUDIT_URL: no answer (${error instanceof Error ? error.name : "Error"})`;
  }
}
