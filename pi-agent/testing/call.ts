import { modelTextOf, type Tool, type ToolResult } from "@edgecall/core/tools/contract.ts";
import { ToolRegistry } from "@edgecall/core/tools/registry.ts";
import { runTool } from "@edgecall/core/tools/runner.ts";

/** No tool of the agent has a shorter time-out, ms; what has is a test's own tool. */
const SHORTEST_MS = 5_000;

/** Runs a tool through the runner, as the agent does. */
export async function callTool(
  tool: Tool,
  args: Record<string, unknown> = {},
): Promise<{ text: string; code: string | undefined; result: ToolResult }> {
  const caller = { principal: "test", role: "owner", channel: "test" };
  // As long as a caller may ask for: a machine that runs many tests is slower than any device.
  const timeoutMs = tool.timeoutMs < SHORTEST_MS ? tool.timeoutMs : tool.maxTimeoutMs;
  const request = { callId: "c", name: tool.name, args, caller, timeoutMs };
  const { result } = await runTool(new ToolRegistry([tool]), request);
  return { text: modelTextOf(result), code: result.fault?.code, result };
}
