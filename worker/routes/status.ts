/** `/healthz`, for everybody, and `/v1/status`, the state of a home. */
import { VERSION } from "@edgecall/core/protocol/names.ts";
import { homeOf } from "../api/stubs.ts";
import { newRoutes } from "../http/app.ts";
import { requireScope } from "../http/auth.ts";

/** The route needs no token. */
export const health = newRoutes();

health.get("/healthz", (c) => c.json({ ok: true, version: VERSION }));

export const status = newRoutes();

status.get("/v1/status", async (c) => {
  const { home } = requireScope(c, "ask");
  return c.json({ home, ...(await homeOf(c.env, home).status()) });
});
