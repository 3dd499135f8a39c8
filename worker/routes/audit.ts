/** `GET /v1/audit`: the record of calls, as the devices wrote it. */
import type { Context } from "hono";
import { type App, HttpError, requireScope } from "../http.ts";
import { homeOf } from "../objects.ts";

const LIMIT = 100;
const LIMIT_MAX = 1_000;
const INSTANT = /^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}(\.\d{1,3})?)?Z?)?$/;

/** Query: `agent`, `tool`, `result` (success, error), `since`, `until` (ISO 8601, UTC), `limit` (100, at most 1000). */
export async function showAudit(c: Context<App>): Promise<Response> {
  const token = requireScope(c, "admin");
  const { agent, tool, result, since, until, limit } = c.req.query();
  if (result !== undefined && result !== "success" && result !== "error")
    throw new HttpError(400, "invalid_query", "result: expected success or error");
  for (const [name, value] of Object.entries({ since, until })) {
    if (value !== undefined && !INSTANT.test(value))
      throw new HttpError(400, "invalid_query", `${name}: expected a time like 2026-11-22T10:00:00Z`);
  }
  const lines = limit === undefined ? LIMIT : Number(limit);
  if (!Number.isInteger(lines) || lines < 1 || lines > LIMIT_MAX)
    throw new HttpError(400, "invalid_query", `limit: expected a whole number from 1 to ${LIMIT_MAX}`);
  const entries = await homeOf(c.env, token.home).audit({ agent, tool, result, since, until, limit: lines });
  return c.json({ entries });
}
