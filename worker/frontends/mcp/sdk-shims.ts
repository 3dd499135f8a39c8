/**
 * Replaces the MCP SDK's shims of this runtime (an alias in wrangler.toml and local/bundles.ts). Those include a JSON Schema
 * validator for questions to a client's person. This server asks none and checks arguments with the tools' own schemas, so 22 KB
 * of 790 would never run.
 */

export class DefaultJsonSchemaValidator {}

/** For a transport over standard input and output, which a Worker does not have. */
export const process = {};
