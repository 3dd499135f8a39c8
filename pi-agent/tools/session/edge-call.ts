/** edge_call and find_agents: this agent's own model finds and calls other agents of the home, through the gateway, as the person who asked this one. */
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
      "Call another edge agent of this home. Give it a query in words, or one of its actions with params. find_agents finds its id.",
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
      return gateway ? await gateway("edge_call", input) : unavailable("edge_call");
    },
  });
}

export function findAgents(): Tool {
  return defineTool({
    name: "find_agents",
    own: true,
    description:
      "Find other edge agents of this home by what they are, where they are and what they can do. Answers ids for edge_call, presence and actions; if it answers one agent (its id as text, or limit 1), with the parameters of its actions.",
    input: z.strictObject({
      text: z
        .string()
        .check(z.minLength(1), z.maxLength(1_000), z.describe("What is wanted, in words; or one agent's id")),
      area: z.optional(z.string().check(z.maxLength(100))).check(z.describe("Only there: kitchen, hall 2")),
      kind: z
        .optional(z.string().check(z.maxLength(100)))
        .check(z.describe("Only of that kind: light, lock")),
      reading: z
        .optional(z.string().check(z.maxLength(100)))
        .check(z.describe("Only devices that report so now: battery < 20, open")),
      limit: z
        .optional(z.int().check(z.minimum(1), z.maximum(20)))
        .check(z.describe("At most so many agents; 5")),
    }),
    effect: "read",
    permission: "session",
    idempotent: true,
    taints: true,
    timeoutMs: TIMEOUT_MS,
    maxTimeoutMs: TIMEOUT_MS,
    async execute(input, { gateway }): Promise<ToolResult> {
      return gateway ? await gateway("find_agents", input) : unavailable("find_agents");
    },
  });
}

/** The result where no gateway can be asked. */
export function unavailable(name: string): ToolResult {
  return faultResult("unavailable", {
    text: `Error: Tool '${name}' cannot run: this gateway does not pass calls between agents. Nothing was run.`,
    advice: "Explain to the user.",
  });
}
