/** The spans of a command on this device: the command and its tools; its own model's are in core/loop. */
import type { Command } from "@edgecall/core/protocol/mqtt.ts";
import { isOwnTool } from "@edgecall/core/tools/own-names.ts";
import {
  childOf,
  readTraceparent,
  type SpanContext,
  spanIdOf,
  traceparentOf,
} from "@edgecall/core/trace/context.ts";
import type { Device } from "./device.ts";

type Traced = Pick<Device, "tracer">;

/** The place of a command that is recorded; undefined: it is not. */
export function commandSpan({ tracer }: Traced, command: Command): SpanContext | undefined {
  const parent = tracer && readTraceparent(command.traceparent);
  return parent?.sampled ? childOf(parent, spanIdOf("agent", command.request_id)) : undefined;
}

/** A command has its reply. @param error a code of its failure */
export function recordCommand(
  { tracer }: Traced,
  { command, request_id, traceparent }: Command,
  context: SpanContext | undefined,
  startMs: number,
  error: string | undefined,
): void {
  if (!context) return;
  tracer?.add({
    context,
    parentId: readTraceparent(traceparent)?.spanId,
    name: `process ${command === "tool" || command === "prompt" ? command : "command"}`,
    kind: "consumer",
    startMs,
    endMs: Date.now(),
    attributes: {
      "messaging.system": "mqtt",
      "messaging.operation.name": "process",
      "messaging.operation.type": "process",
      "messaging.message.id": request_id,
    },
    error,
  });
}

/** For a call that a tool makes through the gateway. */
export function traceOfTool(above: SpanContext | undefined, callId: string): { traceparent?: string } {
  return above ? { traceparent: traceparentOf(childOf(above, spanIdOf("tool", callId))) } : {};
}

/** A tool has run, or was refused. A tool of a skill or a server has a name that its owner chose, which is not sent. */
export function recordTool(
  { tracer }: Traced,
  above: SpanContext | undefined,
  tool: { callId: string; name: string; startMs: number; error: string | undefined },
): void {
  if (!above) return;
  const name = isOwnTool(tool.name) ? tool.name : undefined;
  tracer?.add({
    context: childOf(above, spanIdOf("tool", tool.callId)),
    parentId: above.spanId,
    name: name === undefined ? "execute_tool" : `execute_tool ${name}`,
    kind: "internal",
    startMs: tool.startMs,
    endMs: Date.now(),
    attributes: { "gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": name },
    error: tool.error,
  });
}
