/** `POST /v1/bridge/update`: tells the bridge to install the gateway's program. `GET /v1/status` has the outcome. */

import { newRoutes } from "../../kernel/http/app.ts";
import { HttpError } from "../../kernel/http/errors.ts";
import { json, route } from "../../kernel/http/route.ts";
import { updatesAt } from "./updates-api.ts";

export const bridgeUpdate = newRoutes();

/**
 * Tells the bridge to install the gateway's program. `GET /v1/status` has the outcome. 409 `offline`; 409 `cannot_update`:
 * the bridge is too old for it, or no service.
 */
route(bridgeUpdate, "POST /v1/bridge/update", { scope: "admin" }, async (c, { token }) => {
  const id = crypto.randomUUID();
  const problem = await updatesAt(c.env, token.home).updateBridge(id);
  if (problem) throw new HttpError(409, problem, PROBLEMS[problem]);
  return json(c, { id }, 202);
});

const PROBLEMS = {
  offline: "the bridge is not connected",
  cannot_update: "this bridge is older than updates on command, or is no service; update it where it runs",
};
