/** `/mcp`, and what its clients look for before it. */

import { newRoutes } from "../../http/app.ts";
import { HttpError } from "../../http/errors.ts";

/** Needs no token. MCP's clients ask here whether another server gives out tokens: 404 says that none does, 401 would not. */
export const mcpDiscovery = newRoutes();

mcpDiscovery.all("/.well-known/*", (c) => {
  throw new HttpError(404, "not_found", `nothing is here: ${c.req.path}`);
});

export const mcp = newRoutes();

// The server is built at the first call: the SDK's schemas are half of what this Worker would take to start.
mcp.all("/mcp", async (c) => await (await import("./route.ts")).serveMcp(c));
