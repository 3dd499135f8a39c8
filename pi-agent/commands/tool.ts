/** `tool`: one action, called by name. */

import type { CallRecord } from "@edgecall/core/loop/history.ts";
import { type Command, ToolCommand } from "@edgecall/core/protocol/mqtt.ts";
import { check } from "@edgecall/core/protocol/parse.ts";
import { errorFields } from "@edgecall/core/tools/advice.ts";
import { advisedOf, type ToolResult, wordsOf } from "@edgecall/core/tools/contract.ts";
import { errorTypeOf } from "@edgecall/core/tools/errors.ts";
import type { CommandKind } from "../calls/command.ts";
import { mediaOf, type Packed, pack } from "../calls/media.ts";
import { runAction } from "../calls/run-action.ts";
import { type Reply, succeeded } from "../link/reports.ts";

export const toolCommand: CommandKind = {
  kind: "work",
  idempotent: (command, device) => device.registry.get(toolName(command))?.idempotent ?? true,
  problem: problemOf,
  async run(call, device) {
    const { parameters = {}, timeout_ms } = call.command.payload;
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
    const packed = await pack(mediaOf(result), call.command.request_id, device.uploads, call.signal);
    // The gateway goes by the advert where the report says nothing.
    const tainted = call.taint.brought || (device.registry.get(name)?.taintsIn ? false : undefined);
    return replyOf(name, result, elapsedMs, tainted, packed);
  },
};

function toolName(command: Command): string {
  return typeof command.payload.tool === "string" ? command.payload.tool : "";
}

function problemOf(command: Command): string | undefined {
  if (toolName(command) === "") return "missing tool name";
  const checked = check(ToolCommand, command.payload);
  return checked.ok ? undefined : `payload.${checked.error}`;
}

/** The calls that a tool made as a part of its own, as `task` tells them in its details. */
export function innerCalls({ details }: ToolResult): CallRecord[] {
  return Array.isArray(details?.calls) ? (details.calls as CallRecord[]) : [];
}

/** As a report has them: no part of the errors is for a model alone. */
export function reported(calls: readonly CallRecord[]): object[] {
  return calls.map((call) => (call.error === undefined ? call : { ...call, advice: "" }));
}

/**
 * A tool's result in the seed's shape. A failed tool is still a `result`: the report itself did not fail.
 * @param tainted whether a stranger's text is in it; undefined: as the tool's advert says
 * @param packed its pictures and files
 */
export function replyOf(
  tool: string,
  result: ToolResult,
  elapsedMs: number,
  tainted: boolean | undefined,
  { media, lost }: Packed,
): Reply {
  const exitCode = typeof result.details?.exit_code === "number" ? result.details.exit_code : undefined;
  const stderr = typeof result.details?.stderr === "string" ? result.details.stderr : "";
  const calls = innerCalls(result);
  if (result.fault) {
    const advised = advisedOf(result);
    return succeeded({
      status: "error",
      tool,
      ...errorFields({ ...advised, text: advised.text + lost }),
      error_type: errorTypeOf(result.fault.code),
      code: result.fault.code,
      ...(exitCode !== undefined && { exit_code: exitCode }),
      elapsed_ms: elapsedMs,
      ...(calls.length > 0 && { calls: reported(calls) }),
      ...(media.length > 0 && { media }),
      ...(tainted !== undefined && { tainted }),
    });
  }
  return succeeded({
    status: result.job === undefined ? "success" : "accepted",
    tool,
    result: wordsOf(result) + lost,
    stderr,
    exit_code: exitCode ?? 0,
    elapsed_ms: elapsedMs,
    ...(result.forUser !== undefined && { for_user: result.forUser }),
    ...(result.job !== undefined && { job: result.job }),
    ...(calls.length > 0 && { calls: reported(calls) }),
    ...(media.length > 0 && { media }),
    ...(tainted !== undefined && { tainted }),
  });
}
