/** Makes a tool of this agent of an MCP server's tool, with the same policy, record and limits as any other. */
import { createHash } from "node:crypto";
import { z } from "@edgecall/core/protocol/parse.ts";
import {
  defineTool,
  faultResult,
  type Tool,
  type ToolContext,
  type ToolResult,
} from "@edgecall/core/tools/contract.ts";
import { oneLine } from "@edgecall/core/tools/one-line.ts";
import { schemaForModels } from "@edgecall/core/tools/schema-for-models.ts";
import type { McpServerSettings } from "@edgecall/pi-agent/config/mcp-servers.ts";
import type { CallOptions, ListedTool } from "./client.ts";
import { type Params, RpcError, Unreachable } from "./messages.ts";
import { resultOf } from "./result.ts";

/** The longest name of an agent's action. */
const NAME_MAX = 64;
const DESCRIPTION_MAX = 1_000;
const TIMEOUT_MAX_MS = 10 * 60_000;
const HASH_DIGITS = 8;
/** Characters of a schema as JSON: the advert of all tools has to pass a broker. */
const SCHEMA_MAX_CHARS = 8_000;
/** JSON-RPC's code for arguments that the server refuses. */
const INVALID_PARAMS = -32_602;

export type CallServer = (name: string, args: Params, options: CallOptions) => Promise<Params>;

export function mcpTool(
  listed: ListedTool,
  server: McpServerSettings,
  call: CallServer,
  timeoutMs: number,
): Tool {
  const reads = server.effect === "read" || server.reads.includes(listed.name);
  return defineTool({
    name: mcpToolName(server.name, listed.name),
    description: oneLine(
      listed.description || `Tool '${listed.name}' of the MCP server '${server.name}'`,
      DESCRIPTION_MAX,
    ),
    input: inputOf(listed.inputSchema),
    effect: reads ? "read" : server.effect,
    permission: server.permission,
    // A server's own claims are no reason to run a call twice.
    idempotent: reads,
    ...(!server.trusted && { taints: true }),
    server: server.name,
    ...(server.reach.by === "command" && server.reach.sandbox && { sandbox: true }),
    timeoutMs: Math.min(timeoutMs, TIMEOUT_MAX_MS),
    maxTimeoutMs: TIMEOUT_MAX_MS,
    async execute(input, context) {
      const result = await run(listed.name, server.name, input, call, context);
      return reads || server.confirms || result.fault ? result : sentOnly(result, server);
    },
  });
}

async function run(
  name: string,
  server: string,
  args: Params,
  call: CallServer,
  context: ToolContext,
): Promise<ToolResult> {
  try {
    const answer = await call(name, args, {
      signal: context.signal,
      progress: (text) => context.update(`${text}\n`),
    });
    return await resultOf(answer, context);
  } catch (error) {
    if (error instanceof RpcError) {
      const code = error.code === INVALID_PARAMS ? "invalid_params" : "tool_failed";
      return faultResult(code, `Error: The MCP server '${server}' refused: ${error.message}`);
    }
    if (!(error instanceof Unreachable)) throw error;
    return error.sent
      ? faultResult("outcome_unknown", {
          text: `Error: The MCP server '${server}' went away in the middle of it (${error.message}). Whether it was done is unknown.`,
          advice: "Do not repeat it blindly; tell the user.",
        })
      : faultResult("unavailable", {
          text: `Error: The MCP server '${server}' is not there: ${error.message}. Nothing was run.`,
          advice: "Explain to the user.",
        });
  }
}

/** The server took the command. Whether it was done, only a state can tell. */
function sentOnly({ content, ...more }: ToolResult, { name, reads }: McpServerSettings): ToolResult {
  const states = reads.map((tool) => mcpToolName(name, tool)).join(", ");
  const next = states === "" ? "" : ` Read the state before you say that it was done: ${states}.`;
  const text = `Sent to '${name}', not confirmed: its success does not say that anything was done.${next}`;
  return { ...more, content: [{ type: "text", text }, ...content] };
}

/** Returns `server_tool`. Characters that an action's name cannot have are replaced, and then a hash keeps the name unique. */
export function mcpToolName(server: string, tool: string): string {
  const safe = `${server}_${tool}`.replace(/[^A-Za-z0-9_-]/g, "_");
  if (safe === `${server}_${tool}` && safe.length <= NAME_MAX) return safe;
  const hash = createHash("sha256").update(tool).digest("hex").slice(0, HASH_DIGITS);
  return `${safe.slice(0, NAME_MAX - HASH_DIGITS - 1)}-${hash}`;
}

/** Accepts any object, since the server checks it itself. Its JSON Schema is the server's; where a model is shown it, it is reduced. */
function inputOf(listed: Params): z.ZodMiniType<Params> {
  const schema = JSON.stringify(listed).length > SCHEMA_MAX_CHARS ? schemaForModels(listed) : listed;
  const input = z.record(z.string(), z.unknown());
  // zod's hook for a type that has a JSON Schema of its own.
  input._zod.toJSONSchema = () => ({ ...schema });
  return input;
}
