/** The outcome of a call that a tool made within its own, and its line among the calls of that. */
import type { Call, CallRecord, Outcome } from "@edgecall/core/loop/history.ts";
import { advisedOf, type ToolResult } from "@edgecall/core/tools/contract.ts";
import { errorTypeOf } from "@edgecall/core/tools/errors.ts";
import { cutText } from "@edgecall/core/tools/runner.ts";
import { mediaOf } from "./media.ts";

/** Bytes of one inner result where the calls are shown. */
const SHOWN_RESULT_BYTES = 1_000;

export function innerOutcome({
  result,
  elapsedMs,
  args,
}: {
  result: ToolResult;
  elapsedMs: number;
  args?: Record<string, unknown>;
}): Outcome {
  const media = mediaOf(result);
  return {
    status: result.fault ? "error" : "success",
    ...advisedOf(result),
    ...(result.fault && { errorType: errorTypeOf(result.fault.code) }),
    ...(result.job !== undefined && { job: result.job }),
    ...(media.length > 0 && { media }),
    ...(args && { args }),
    elapsedMs,
  };
}

export function innerRecord(
  { id, name, args: asked }: Pick<Call, "id" | "name" | "args">,
  { status, text, errorType, elapsedMs, args = asked }: Outcome,
): CallRecord {
  const shortText = cutText(text, SHOWN_RESULT_BYTES);
  return {
    id,
    name,
    args,
    status,
    ...(status === "error" ? { error: shortText } : { result: shortText }),
    ...(errorType && { error_type: errorType }),
    elapsed_ms: elapsedMs,
  };
}
