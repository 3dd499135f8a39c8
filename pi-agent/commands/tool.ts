/** `tool`: one action, called by name. */
import { type Command, ToolCommand } from "@edgecall/core/protocol/mqtt.ts";
import { check } from "@edgecall/core/protocol/parse.ts";
import { type ToolResult, textOf } from "@edgecall/core/tools/contract.ts";
import { errorTypeOf } from "@edgecall/core/tools/errors.ts";
import { runTool } from "@edgecall/core/tools/runner.ts";
import type { Budget } from "../budget.ts";
import { type Reply, succeeded } from "../reports.ts";
import type { CommandKind, Device } from "./command.ts";

export const toolCommand: CommandKind = {
  kind: "work",
  idempotent: (command, device) => device.registry.get(toolName(command))?.idempotent ?? true,
  problem: problemOf,
  async run({ command, caller, budget, signal, say }, device) {
    const { parameters, timeout_ms } = command.payload;
    const name = toolName(command);
    const { result, elapsedMs } = await runTool(
      device.registry,
      {
        callId: command.request_id,
        name,
        args: parameters as Record<string, unknown>,
        timeoutMs: timeoutOf(device, name, budget, timeout_ms as number | undefined),
        caller,
        signal,
        update: say,
      },
      device.runner,
    );
    return replyOf(name, result, elapsedMs);
  },
};

/** The wanted time-out, or the tool's own; never beyond what is left of the call's budget. In ms. */
export function timeoutOf(device: Device, name: string, budget: Budget, wanted?: number): number {
  const own = device.registry.get(name)?.timeoutMs ?? device.settings.tools.timeoutMs;
  const timeout = Math.min(wanted ?? Math.min(own, device.settings.tools.timeoutMs), budget.remainingMs());
  return Math.max(1, Math.floor(timeout));
}

function toolName(command: Command): string {
  return typeof command.payload.tool === "string" ? command.payload.tool : "";
}

function problemOf(command: Command): string | undefined {
  if (toolName(command) === "") return "missing tool name";
  if (command.payload.parameters === undefined) return "missing parameters";
  const checked = check(ToolCommand, command.payload);
  return checked.ok ? undefined : `payload.${checked.error}`;
}

/** A tool's result in the seed's shape. A failed tool is still a `result`: the report itself did not fail. */
export function replyOf(tool: string, result: ToolResult, elapsedMs: number): Reply {
  const content = result.content.some((part) => part.type !== "text") ? { content: result.content } : {};
  const exitCode = typeof result.details?.exit_code === "number" ? result.details.exit_code : undefined;
  const stderr = typeof result.details?.stderr === "string" ? result.details.stderr : "";
  if (result.fault) {
    return succeeded({
      status: "error",
      tool,
      error: textOf(result),
      error_type: errorTypeOf(result.fault.code),
      code: result.fault.code,
      ...(exitCode !== undefined && { exit_code: exitCode }),
      elapsed_ms: elapsedMs,
      ...content,
    });
  }
  return succeeded({
    status: "success",
    tool,
    result: textOf(result),
    stderr,
    exit_code: exitCode ?? 0,
    elapsed_ms: elapsedMs,
    ...(result.forUser !== undefined && { for_user: result.forUser }),
    ...(result.job !== undefined && { job: result.job }),
    ...content,
  });
}
