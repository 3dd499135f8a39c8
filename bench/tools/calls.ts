/** Calls of a tool as the agent makes them: through the runner, with its locks. */
import type { Tool } from "@edgecall/core/tools/contract.ts";
import { Locks } from "@edgecall/core/tools/locks.ts";
import { ToolRegistry } from "@edgecall/core/tools/registry.ts";
import { runTool } from "@edgecall/core/tools/runner.ts";

const CALLER = { principal: "bench", role: "owner", channel: "bench" };

/** @throws when the tool failed, because then the time would mean nothing */
export function caller(tool: Tool): (args: Record<string, unknown>) => Promise<void> {
  const registry = new ToolRegistry([tool]);
  const locks = new Locks();
  return async (args) => {
    const { result } = await runTool(
      registry,
      { callId: "bench", name: tool.name, args, caller: CALLER },
      { locks },
    );
    if (result.fault) throw new Error(`${tool.name}: ${result.fault.message}`, { cause: result.fault.cause });
  };
}
