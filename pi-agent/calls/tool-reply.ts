/** Turns a tool's result into the report of its call. */
import type { CallRecord } from "@edgecall/core/loop/history.ts";
import { errorFields } from "@edgecall/core/tools/advice.ts";
import { advisedOf, type ToolResult, toolResultText } from "@edgecall/core/tools/contract.ts";
import { errorTypeOf } from "@edgecall/core/tools/errors.ts";
import { type Reply, succeeded } from "../link/reports.ts";
import type { Packed } from "./media.ts";

/** The calls that a tool made as a part of its own, as `task` lists them in its details. */
export function innerCalls({ details }: ToolResult): CallRecord[] {
  return Array.isArray(details?.calls) ? (details.calls as CallRecord[]) : [];
}

/** An answer of another model, for which that called no tool. */
export function calledNoTool({ details }: ToolResult): boolean {
  return details?.asked === false;
}

/** The form of calls in a report: their errors have no part that is for a model alone. */
export function reported(calls: readonly CallRecord[]): object[] {
  return calls.map((call) => (call.error === undefined ? call : { ...call, advice: "" }));
}

/**
 * Makes the reply of a tool's call. A failed tool is still a `result`, since the report itself did not fail.
 * @param tainted true if a stranger's text is in it; undefined: as the tool's advert says
 * @param packed the result's pictures and files
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
    result: toolResultText(result) + lost,
    stderr,
    exit_code: exitCode ?? 0,
    elapsed_ms: elapsedMs,
    ...(result.forUser !== undefined && { for_user: result.forUser }),
    ...(result.job !== undefined && { job: result.job }),
    ...(calls.length > 0 && { calls: reported(calls) }),
    ...(calledNoTool(result) && { asked: false }),
    ...(media.length > 0 && { media }),
    ...(tainted !== undefined && { tainted }),
  });
}
