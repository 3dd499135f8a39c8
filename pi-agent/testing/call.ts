import { modelTextOf, type Tool, type ToolResult } from "@edgecall/core/tools/contract.ts";
import { ToolRegistry } from "@edgecall/core/tools/registry.ts";
import { runTool } from "@edgecall/core/tools/runner.ts";

/** Runs a tool through the runner, as the agent does. */
export async function callTool(
  tool: Tool,
  args: Record<string, unknown> = {},
): Promise<{ text: string; code: string | undefined; result: ToolResult }> {
  const caller = { principal: "test", role: "owner", channel: "test" };
  const { result } = await runTool(new ToolRegistry([tool]), { callId: "c", name: tool.name, args, caller });
  return { text: modelTextOf(result), code: result.fault?.code, result };
}
