/** `GET /v1/audit` and `GET /v1/audit/export`: the audit log of calls, as the devices wrote it. */

import { visibleJson } from "@edgecall/core/tools/visible.ts";
import { type AuditFilter, type AuditPage, recordId } from "../../kernel/api/audit.ts";
import type { Env } from "../../kernel/env.ts";
import { newRoutes } from "../../kernel/http/app.ts";
import { anyText, oneOf, optionalText, wholeNumber, yesOrNo } from "../../kernel/http/fields.ts";
import { json, route, typedAnswer } from "../../kernel/http/route.ts";
import { jsonLines, line } from "../../kernel/routes/json-lines.ts";
import { auditAt } from "./audit-api.ts";

export const audit = newRoutes();

const LIMIT = 100;
const LIMIT_MAX = 1_000;
const INSTANT = /^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}(\.\d{1,3})?)?Z?)?$/;

const instant = optionalText(INSTANT, "a time like 2026-11-22T10:00:00Z");
const FILTER = {
  /** An agent's id. */
  agent: anyText,
  tool: anyText,
  result: oneOf("success", "error"),
  /** A call's id: that call, what it was made of, and what its agents asked of others. */
  chain: anyText,
  /** ISO 8601, UTC. */
  since: instant,
  /** ISO 8601, UTC. */
  until: instant,
};

/**
 * Lists the lines of the audit log, the newest first. `more`: older lines match too; `until` the last one's time, or the
 * export, has them. The devices write these lines. Home writes them for its own tools (`@gateway`), for agents that keep no
 * record, and for calls that never got to their agent.
 */
route(
  audit,
  "GET /v1/audit",
  {
    scope: "admin",
    query: {
      ...FILTER,
      limit: wholeNumber({ fallback: LIMIT, max: LIMIT_MAX }),
      /** Devices bring their lines within seconds, for the next half a minute. */
      follow: yesOrNo,
    },
  },
  async (c, { token, query: { limit, ...query } }) => {
    const found = await auditAt(c.env, token.home).find({ ...query, limit: limit + 1 });
    return json(c, { entries: found.slice(0, limit), more: found.length > limit });
  },
);

/**
 * Exports every line that matches the query, in order of arrival, as lines of JSON. The last line is
 * `{"end":true,"lines","after"}`.
 */
route(
  audit,
  "GET /v1/audit/export",
  {
    scope: "admin",
    query: {
      ...FILTER,
      /** From the last line of the previous export, for the lines since then. */
      after: wholeNumber({ fallback: 0, min: 0 }),
    },
  },
  async (c, { token: { home }, query: { after, ...filter } }) =>
    typedAnswer<string, 200, "application/x-ndjson">(
      jsonLines(exported(c.env, home, after, filter), `edgecall-audit-${home}`),
    ),
);

async function* exported(env: Env, home: string, after: number, filter: AuditFilter): AsyncGenerator<string> {
  let page: AuditPage = { batches: [], after, more: true };
  let count = 0;
  while (page.more) {
    page = await auditAt(env, home).page(page.after, filter);
    let lines = "";
    for (const batch of page.batches)
      for (const entry of batch.lines) {
        count += 1;
        lines += `${visibleJson({ id: await recordId(home, entry), seq: batch.at, ...entry })}\n`;
      }
    yield lines;
  }
  yield line({ end: true, lines: count, after: page.after });
}
