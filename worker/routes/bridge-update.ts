/** `POST /v1/bridge/update`: tells the bridge to install the gateway's program. `GET /v1/status` has the outcome. */
import type { Context } from "hono";
import { homeOf } from "../api/stubs.ts";
import { type App, newRoutes } from "../http/app.ts";
import { requireScope } from "../http/auth.ts";
import { HttpError } from "../http/errors.ts";

export const bridgeUpdate = newRoutes();

bridgeUpdate.post("/v1/bridge/update", updateBridge);

async function updateBridge(c: Context<App>): Promise<Response> {
  const id = crypto.randomUUID();
  const problem = await homeOf(c.env, requireScope(c, "admin").home).updateBridge(id);
  if (problem) throw new HttpError(409, problem, PROBLEMS[problem]);
  return c.json({ id }, 202);
}

const PROBLEMS = {
  offline: "the bridge is not connected",
  cannot_update: "this bridge is older than updates on command, or is no service; update it where it runs",
};
