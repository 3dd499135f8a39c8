/** `/mcp`, and the address that MCP's clients request first. */

import type { HomeTools } from "../../kernel/api/home-tools.ts";
import { newRoutes } from "../../kernel/http/app.ts";
import { HttpError } from "../../kernel/http/errors.ts";
import { serveMcp } from "./route.ts";

/** No token needed. Clients try several documents: 404 says that one is not there, 401 would not. The oauth folder has the others. */
export const mcpDiscovery = newRoutes();

mcpDiscovery.all("/.well-known/*", (c) => {
  throw new HttpError(404, "not_found", `nothing is here: ${c.req.path}`);
});

/** @param homeTools those that a home runs for programs */
export function mcpRoutes(homeTools: readonly HomeTools[]) {
  const mcp = newRoutes();
  mcp.all("/mcp", (c) => serveMcp(c, homeTools));
  return mcp;
}
