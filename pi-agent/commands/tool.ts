/** `tool`: one action, called by name. */
import { type Command, ToolCommand } from "@edgecall/core/protocol/mqtt.ts";
import { check } from "@edgecall/core/protocol/parse.ts";
import { type ToolResult, textOf } from "@edgecall/core/tools/contract.ts";
import { errorTypeOf } from "@edgecall/core/tools/errors.ts";
import { type Reply, succeeded } from "../reports.ts";
import type { CommandKind } from "./command.ts";
import { runAction } from "./run-action.ts";

export const toolCommand: CommandKind = {
  kind: "work",
  idempotent: (command, device) => device.registry.get(toolName(command))?.idempotent ?? true,
  problem: problemOf,
  async run(call, device) {
    const { parameters, timeout_ms } = call.command.payload;
    const name = toolName(call.command);
    const { result, elapsedMs } = await runAction(
      {
        callId: call.command.request_id,
        name,
        args: parameters as Record<string, unknown>,
        ...(timeout_ms !== undefined && { timeoutMs: timeout_ms as number }),
      },
      call,
      device,
    );
    return replyOf(name, result, elapsedMs, call.taint.brought);
  },
};

function toolName(command: Command): string {
  return typeof command.payload.tool === "string" ? command.payload.tool : "";
}

function problemOf(command: Command): string | undefined {
  if (toolName(command) === "") return "missing tool name";
  if (command.payload.parameters === undefined) return "missing parameters";
  const checked = check(ToolCommand, command.payload);
  return checked.ok ? undefined : `payload.${checked.error}`;
}

/**
 * A tool's result in the seed's shape. A failed tool is still a `result`: the report itself did not fail.
 * @param tainted a stranger's text is in it
 */
export function replyOf(tool: string, result: ToolResult, elapsedMs: number, tainted: boolean): Reply {
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
      ...(tainted && { tainted }),
    });
  }
  return succeeded({
    status: result.job === undefined ? "success" : "accepted",
    tool,
    result: textOf(result),
    stderr,
    exit_code: exitCode ?? 0,
    elapsed_ms: elapsedMs,
    ...(result.forUser !== undefined && { for_user: result.forUser }),
    ...(result.job !== undefined && { job: result.job }),
    ...content,
    ...(tainted && { tainted }),
  });
}
