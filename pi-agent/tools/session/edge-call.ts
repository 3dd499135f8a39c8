/** edge_call: this agent's own model calls another agent of the home, through the gateway, as the person who asked this one. */
import { z } from "@edgecall/core/protocol/parse.ts";
import { defineTool, faultResult, type Tool, type ToolResult } from "@edgecall/core/tools/contract.ts";

const QUERY_CHARS = 20_000;
/** Time to reach the gateway; the clock stands still while the other agent works. */
const TIMEOUT_MS = 60_000;

export function edgeCall(): Tool {
  return defineTool({
    name: "edge_call",
    own: true,
    description:
      "Call another edge agent of this home. Give it a query in words, or one of its actions with params. A wrong agent_id is answered with ids that exist.",
    input: z.strictObject({
      agent_id: z.string().check(z.minLength(1), z.maxLength(129), z.describe("Id of the other agent")),
      query: z
        .optional(z.string().check(z.minLength(1), z.maxLength(QUERY_CHARS)))
        .check(
          z.describe(
            "What it should find out or do, complete in itself: it knows nothing of this conversation",
          ),
        ),
      action: z
        .optional(z.string().check(z.minLength(1), z.maxLength(64)))
        .check(z.describe("One of its actions by name, in place of a query")),
      params: z.optional(z.record(z.string(), z.unknown())).check(z.describe("Parameters of the action")),
    }),
    // The other agent judges the call by its own policy.
    effect: "read",
    permission: "session",
    idempotent: false,
    taints: true,
    timeoutMs: TIMEOUT_MS,
    maxTimeoutMs: TIMEOUT_MS,
    async execute(input, { gateway }): Promise<ToolResult> {
      return gateway
        ? await gateway("edge_call", input)
        : faultResult("unavailable", {
            text: "Error: Tool 'edge_call' cannot run: this gateway does not pass calls between agents. Nothing was run.",
            advice: "Explain to the user.",
          });
    },
  });
}
