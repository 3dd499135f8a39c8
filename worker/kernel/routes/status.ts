/** `/healthz`, for everybody, and `/v1/status`, the state of a home. */
import { VERSION } from "@edgecall/core/protocol/names.ts";
import type { HomeStatus } from "../api/answers.ts";
import { rowsConditions } from "../api/rows-state.ts";
import { homeOf } from "../api/stubs.ts";
import { newRoutes } from "../http/app.ts";
import { json, route } from "../http/route.ts";

/** The route needs no token. */
export const health = newRoutes();

/**
 * Says that the gateway answers, and its version. It wakes no object.
 */
route(health, "GET /healthz", {}, (c) =>
  json<{ ok: boolean; version: string }>(c, { ok: true, version: VERSION }),
);

export const status = newRoutes();

/** Shows the state of the home: its bridge, its agents and the calls that are open. */
route(status, "GET /v1/status", { scope: "ask" }, async (c, { token: { home } }) => {
  const [status, conditions] = await Promise.all([homeOf(c.env, home).status(), rowsConditions(c.env)]);
  return json<{ home: string } & HomeStatus>(c, {
    home,
    ...status,
    ...(conditions.length > 0 && { conditions }),
  });
});
