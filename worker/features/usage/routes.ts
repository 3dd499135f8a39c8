/** `GET /metrics`: a home's figures for Prometheus. The home itself is asked every five minutes at most. */

import { METRICS_CONTENT_TYPE } from "@edgecall/core/metrics/exposition.ts";
import { newRoutes } from "../../kernel/http/app.ts";
import { route, typedAnswer } from "../../kernel/http/route.ts";
import { usageAt } from "./usage-api.ts";

export const metrics = newRoutes();

/** Scrapers ask every minute or more often, and should not wake a sleeping home each time. */
const KEEP_S = 300;

/**
 * Shows the home's figures for Prometheus. The scope `metrics` permits nothing else. Figures are at most five minutes old.
 * Calls are counted for 300 pairs of device and tool, later ones together under `(others)`.
 */
route(metrics, "GET /metrics", { scope: "metrics", or: "admin" }, async (c, { token }) => {
  // The home alone is the key, because the scope was checked above. On workers.dev the platform caches nothing, so there every
  // request reaches the home (docs/guides/watching.md).
  const key = new Request(`https://metrics.invalid/${token.home}`);
  const cached = await caches.default.match(key);
  if (cached) return answer(await cached.text());
  const page = await usageAt(c.env, token.home).metrics();
  const copy = new Response(page, { headers: { "cache-control": `max-age=${KEEP_S}` } });
  c.executionCtx.waitUntil(caches.default.put(key, copy));
  return answer(page);
});

function answer(page: string) {
  return typedAnswer<string, 200, "text/plain">(
    new Response(page, {
      headers: { "content-type": METRICS_CONTENT_TYPE, "cache-control": "no-store" },
    }),
  );
}
