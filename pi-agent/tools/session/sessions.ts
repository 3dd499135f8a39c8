/**
 * The session tools and agents_list, for this agent's own model: the gateway runs them, with the eyes of this agent. What it sees are
 * sessions that it began itself, or that were shared with it.
 */
import { defineTool, type Tool, type ToolResult } from "@edgecall/core/tools/contract.ts";
import { SESSION_TOOL_NAMES, SESSION_TOOLS } from "@edgecall/core/tools/session-tools.ts";
import { unavailable } from "./edge-call.ts";

/** Time to reach the gateway; the clock stands still while it works. */
const TIMEOUT_MS = 60_000;

export function sessionTools(): Tool[] {
  return SESSION_TOOL_NAMES.map((name) =>
    defineTool({
      ...SESSION_TOOLS[name],
      own: true,
      // The call is judged where it runs.
      effect: "read",
      permission: "session",
      idempotent: name !== "sessions_send" && name !== "sessions_spawn",
      taints: true,
      timeoutMs: TIMEOUT_MS,
      maxTimeoutMs: TIMEOUT_MS,
      async execute(input, { gateway }): Promise<ToolResult> {
        return gateway ? await gateway(name, input as Record<string, unknown>) : unavailable(name);
      },
    }),
  );
}
