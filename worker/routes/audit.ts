/** `GET /v1/audit` and `GET /v1/audit/export`: the audit log of calls, as the devices wrote it. */
import { visibleJson } from "@edgecall/core/tools/visible.ts";
import type { Context } from "hono";
import { type AuditFilter, type AuditPage, recordId } from "../api/audit.ts";
import { homeOf } from "../api/stubs.ts";
import type { Env } from "../env.ts";
import { type App, newRoutes } from "../http/app.ts";
import { requireScope } from "../http/auth.ts";
import { HttpError } from "../http/errors.ts";
import { readWholeNumber } from "../http/request.ts";
import { jsonLines, line } from "./json-lines.ts";

export const audit = newRoutes();

audit.get("/v1/audit", showAudit);
audit.get("/v1/audit/export", exportAudit);

const LIMIT = 100;
const LIMIT_MAX = 1_000;
const INSTANT = /^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}(\.\d{1,3})?)?Z?)?$/;

/**
 * Query: `agent`, `tool`, `result` (success, error), `chain` (a call's id), `since`, `until` (ISO 8601, UTC), `limit` (100, at most 1000),
 * `follow` (yes: devices bring their lines within seconds, for the next half a minute).
 * @returns `more`: older lines match too; `until` the last one's time, or the export, has them
 */
async function showAudit(c: Context<App>): Promise<Response> {
  const token = requireScope(c, "admin");
  const filter = readFilter(c);
  const limit = readWholeNumber(c, "limit", { fallback: LIMIT, max: LIMIT_MAX });
  const found = await homeOf(c.env, token.home).audit({
    ...filter,
    limit: limit + 1,
    follow: c.req.query("follow") === "yes",
  });
  return c.json({ entries: found.slice(0, limit), more: found.length > limit });
}

/**
 * Exports every line that matches the same query, in order of arrival. Query: `after`, from the last line of the previous export,
 * for the lines since then.
 */
async function exportAudit(c: Context<App>): Promise<Response> {
  const { home } = requireScope(c, "admin");
  const filter = readFilter(c);
  const after = readWholeNumber(c, "after", { fallback: 0, min: 0, max: Number.MAX_SAFE_INTEGER });
  return jsonLines(exported(c.env, home, after, filter), `edgecall-audit-${home}`);
}

async function* exported(env: Env, home: string, after: number, filter: AuditFilter): AsyncGenerator<string> {
  let page: AuditPage = { batches: [], after, more: true };
  let count = 0;
  while (page.more) {
    page = await homeOf(env, home).auditPage(page.after, filter);
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

function readFilter(c: Context<App>): AuditFilter {
  const { agent, tool, result, chain, since, until } = c.req.query();
  if (result !== undefined && result !== "success" && result !== "error")
    throw new HttpError(400, "invalid_query", "result: expected success or error");
  for (const [name, value] of Object.entries({ since, until })) {
    if (value !== undefined && !INSTANT.test(value))
      throw new HttpError(400, "invalid_query", `${name}: expected a time like 2026-11-22T10:00:00Z`);
  }
  return { agent, tool, result, chain, since, until };
}
