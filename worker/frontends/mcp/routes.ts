/** `/mcp`, and the address that MCP's clients request first. */

import { newRoutes } from "../../http/app.ts";
import { HttpError } from "../../http/errors.ts";

/** No token needed. MCP's clients ask here for an authorization server: 404 says that there is none, 401 would not. */
export const mcpDiscovery = newRoutes();

mcpDiscovery.all("/.well-known/*", (c) => {
  throw new HttpError(404, "not_found", `nothing is here: ${c.req.path}`);
});

export const mcp = newRoutes();

// The server is loaded at the first call, so its schemas cost nothing at the Worker's start.
mcp.all("/mcp", async (c) => await (await import("./route.ts")).serveMcp(c));
