/** A tool's call through the gateway, as a part of a command: what the gateway answers becomes the tool's result. */
import { outcomeForModel } from "@edgecall/core/loop/history.ts";
import type { Media } from "@edgecall/core/protocol/media.ts";
import type { CalledOutcome } from "@edgecall/core/protocol/mqtt.ts";
import { forModel } from "@edgecall/core/tools/advice.ts";
import { type Content, faultResult, type ToolResult } from "@edgecall/core/tools/contract.ts";
import type { ErrorCode } from "@edgecall/core/tools/errors.ts";
import type { CommandCall } from "./command.ts";
import type { GatewayCall, GatewayCalls } from "./gateway-calls.ts";

/** While it waits, the command's time stands still, and its place among the prompts is free: two agents that ask each other would block each other otherwise. */
export async function callGateway(
  asked: GatewayCall,
  signal: AbortSignal,
  call: CommandCall,
  { gatewayCalls }: { gatewayCalls: Pick<GatewayCalls, "call"> },
): Promise<ToolResult> {
  const resume = call.budget.pause();
  const comeBack = call.place?.leave();
  try {
    return resultOf(await gatewayCalls.call(asked, signal));
  } finally {
    try {
      await comeBack?.();
    } finally {
      resume();
    }
  }
}

function resultOf(outcome: CalledOutcome): ToolResult {
  const { status, advice, agent, calls, usage, routed } = outcome;
  const noToolCalled = outcome.asked === false && { asked: false as const };
  const text = outcomeForModel({ text: outcome.text, ...(routed && { routed }), ...noToolCalled });
  const details = {
    ...(agent !== undefined && { agent }),
    ...(calls && { calls }),
    ...(usage && { usage }),
    ...noToolCalled,
  };
  const media = ((outcome.media ?? []) as Media[]).map(toContent);
  if (status === "success")
    return { content: [{ type: "text", text: forModel({ text, advice }) }, ...media], details };
  const fault = faultResult(codeOf(outcome.error_type), { text, advice }, { details });
  return { ...fault, content: [...fault.content, ...media] };
}

function toContent(item: Media): Content {
  if ("data" in item) return { type: "image", mediaType: item.media_type, data: item.data };
  return {
    type: "artifact",
    id: item.id,
    mediaType: item.media_type,
    bytes: item.bytes,
    sha256: item.sha256,
  };
}

/** A code of this error type. */
function codeOf(errorType: string | undefined): ErrorCode {
  switch (errorType) {
    case "timeout":
    case "invalid_params":
    case "offline":
    case "outcome_unknown":
      return errorType;
    case "not_found":
      return "unknown_tool";
    case "permission_denied":
      return "access_denied";
    default:
      return "tool_failed";
  }
}
