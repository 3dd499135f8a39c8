/** `GET /metrics`: a home's figures for Prometheus. The home itself is asked every five minutes at most. */
import { METRICS_CONTENT_TYPE } from "@edgecall/core/metrics/exposition.ts";
import type { Context } from "hono";
import { homeOf } from "../api/stubs.ts";
import { type App, newRoutes } from "../http/app.ts";
import { HttpError } from "../http/errors.ts";

export const metrics = newRoutes();

metrics.get("/metrics", showMetrics);

/** Scrapers ask every minute or more often, and should not wake a sleeping home each time. */
const KEEP_S = 300;

/** The route needs the scope `metrics`, which permits nothing else, or `admin`. */
async function showMetrics(c: Context<App>): Promise<Response> {
  const token = c.get("token");
  if (!token.scopes.includes("metrics") && !token.scopes.includes("admin"))
    throw new HttpError(403, "forbidden", `the token '${token.name}' does not have the scope 'metrics'`);
  // The home alone is the key, because the scope was checked above. On workers.dev the platform caches nothing, so there every
  // request reaches the home (docs/operations.md).
  const key = new Request(`https://metrics.invalid/${token.home}`);
  const cached = await caches.default.match(key);
  if (cached) return answer(await cached.text());
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
