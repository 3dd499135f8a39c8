/** `tool`: calls one action by name. */
import { type Command, ToolCommand } from "@edgecall/core/protocol/mqtt.ts";
import { check } from "@edgecall/core/protocol/parse.ts";
import type { CommandKind } from "../calls/command-kind.ts";
import { mediaOf, pack } from "../calls/media.ts";
import type { OfferedTools } from "../calls/offered-tools.ts";
import type { RunAction } from "../calls/run-action.ts";
import { replyOf } from "../calls/tool-reply.ts";
import type { Uploads } from "../calls/uploads.ts";

export type ToolCommandParts = {
  tools: Pick<OfferedTools, "registry">;
  runAction: RunAction;
  uploads: Uploads;
};

export function toolCommand({ tools, runAction, uploads }: ToolCommandParts): CommandKind {
  return {
    kind: "work",
    idempotent: (command) => tools.registry.get(toolName(command))?.idempotent ?? true,
    problem: problemOf,
    async run(call) {
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
      );
      const packed = await pack(mediaOf(result), call.command.request_id, uploads, call.signal);
      // Without `tainted` in the report, the gateway uses the advert.
      const tainted = call.taint.inResults || (tools.registry.get(name)?.taintsIn ? false : undefined);
      return replyOf(name, result, elapsedMs, tainted, packed);
    },
  };
}

function toolName(command: Command): string {
  return typeof command.payload.tool === "string" ? command.payload.tool : "";
}

function problemOf(command: Command): string | undefined {
  if (toolName(command) === "") return "missing tool name";
  const checked = check(ToolCommand, command.payload);
  return checked.ok ? undefined : `payload.${checked.error}`;
}
