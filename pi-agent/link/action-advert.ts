/** What the agent says of one of its tools. */
import type { ActionAdvert } from "@edgecall/core/protocol/mqtt.ts";
import { jsonSchema } from "@edgecall/core/protocol/parse.ts";
import type { Tool } from "@edgecall/core/tools/contract.ts";

export function actionOf(tool: Tool): ActionAdvert {
  return {
    name: tool.name,
    description: tool.description,
    parameters: jsonSchema(tool.input),
    timeout_ms: tool.timeoutMs,
    effect: tool.effect,
    idempotent: tool.idempotent,
    ...(tool.taints && { taints: true }),
    ...(tool.queueMs !== undefined && { queue_ms: tool.queueMs }),
  };
}
