/**
 * Stands in for the MCP SDK's own shims of this runtime (an alias in wrangler.toml and local/bundles.ts). Those carry a
 * JSON Schema validator for what a server asks of a client's person; this server asks there for nothing, and checks
 * arguments by the tools' own schemas, so 22 KB of 790 would never run.
 */

export class DefaultJsonSchemaValidator {}

/** For a transport over standard input and output, which a Worker does not have. */
export const process = {};
