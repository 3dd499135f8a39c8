/** `GET /metrics`: a home's figures for Prometheus, at most every five minutes from the home itself. */
import { METRICS_CONTENT_TYPE } from "@edgecall/core/metrics/exposition.ts";
import type { Context } from "hono";
import { homeOf } from "../api/stubs.ts";
import { type App, newRoutes } from "../http/app.ts";
import { HttpError } from "../http/errors.ts";

export const metrics = newRoutes();

metrics.get("/metrics", showMetrics);

/** A scraper asks every minute or oftener; a home that sleeps is left to sleep. */
const KEEP_S = 300;

/** Needs the scope `metrics`, which lets its token do nothing else, or `admin`. */
async function showMetrics(c: Context<App>): Promise<Response> {
  const token = c.get("token");
  if (!token.scopes.includes("metrics") && !token.scopes.includes("admin"))
    throw new HttpError(403, "forbidden", `the token '${token.name}' does not have the scope 'metrics'`);
  // By the home alone: who may see it was decided above. On workers.dev the platform keeps nothing, so there the
  // interval of the scraper decides (docs/operations.md).
  const key = new Request(`https://metrics.invalid/${token.home}`);
  const kept = await caches.default.match(key);
  if (kept) return answer(await kept.text());
  const page = await homeOf(c.env, token.home).metrics();
  const copy = new Response(page, { headers: { "cache-control": `max-age=${KEEP_S}` } });
  c.executionCtx.waitUntil(caches.default.put(key, copy));
  return answer(page);
}

function answer(page: string): Response {
  return new Response(page, {
    headers: { "content-type": METRICS_CONTENT_TYPE, "cache-control": "no-store" },
  });
}
