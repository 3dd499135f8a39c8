/** Asks a person before a call runs. An approval counts only for exactly what was shown. */

import { approvalHash } from "@edgecall/core/protocol/approval.ts";
import type { AuditLine } from "@edgecall/core/protocol/audit.ts";
import type { ApprovalRequest } from "@edgecall/core/protocol/mqtt.ts";
import { cutText } from "@edgecall/core/text/cut.ts";
import { faultResult, type Tool, type ToolResult } from "@edgecall/core/tools/contract.ts";
import { messageOf } from "@edgecall/node/log.ts";
import type { Settings } from "../config/settings.ts";
import type { CommandCall } from "./command.ts";
import type { CommandLedger } from "./ledger.ts";
import { APPROVE, DENY, verdictOf } from "./policy.ts";
import type { PersonQuestions } from "./questions.ts";
import { unrecordable } from "./refusals.ts";

/** The largest arguments, in bytes of JSON. Nobody reviews more, and the question has to fit a packet. */
const APPROVAL_MAX_BYTES = 64 * 1024;
/** The question's text shows this many characters of the arguments. All of them are in `approval`. */
const SHOWN_CHARS = 500;

/** The outcome, for the record. */
export type Approval = NonNullable<AuditLine["approval"]>;

export type ApprovalParts = {
  settings: Pick<Settings, "agentId" | "approvalMs" | "tools">;
  ledger: CommandLedger;
  questions: PersonQuestions;
};

/** @property mayHarm the tool says so of this very call: the gateway wants more than a press then */
export type Wanted = { tool: Tool; args: Record<string, unknown>; reason: string; mayHarm?: boolean };

/**
 * Waits until a person has approved the call. The call's time stands still meanwhile.
 * @returns without a `refusal` when the call may run; with one, nothing of it has run. `approval` is missing when
 *   nobody was asked
 */
export async function askForApproval(
  { tool, args, reason, mayHarm = false }: Wanted,
  call: CommandCall,
  { settings, ledger, questions }: ApprovalParts,
): Promise<{ refusal?: ToolResult; approval?: Approval }> {
  const id = call.command.request_id;
  const argsText = JSON.stringify(args);
  if (Buffer.byteLength(argsText) > APPROVAL_MAX_BYTES) {
    const text = `Error: Permission denied for tool '${tool.name}': it has to be approved, and its parameters are too long to be shown for that (at most ${APPROVAL_MAX_BYTES} bytes). Nothing was run.`;
    return { refusal: faultResult("blocked", text) };
  }
  // Only a shell has a working directory. The others take whole paths.
  const cwd = tool.effect === "exec" ? settings.tools.workspace : undefined;
  const hash = () => approvalHash(settings.agentId, tool.name, args, cwd);
  const request: ApprovalRequest = {
    tool: tool.name,
    parameters: args,
    ...(cwd !== undefined && { cwd }),
    reason,
    hash: await hash(),
    ...(mayHarm && { danger: true }),
  };
  await ledger.approvalAsked(id, settings.approvalMs);
  const resume = call.budget.pause();
  // What else the reply asks for may have to be approved too, and is asked for together with this.
  const comeBack = call.slot?.leave();
  const answered = await questions.ask(
    {
      requestId: id,
      text: `May ${settings.agentId} run '${tool.name}' with ${cut(argsText)}? It is asked because ${reason}.`,
      options: [APPROVE, DENY],
      approval: request,
      expiresInMs: settings.approvalMs,
    },
    call.signal,
  );
  resume();
  comeBack?.();
  const at = new Date().toISOString();
  const verdict = verdictOf(tool.name, answered, await hash(), call.caller.principal);
  const { principal: by, how } = answered.by === "person" ? answered : {};
  const approval: Approval = {
    approved: verdict.approved,
    ...(by !== undefined && { by }),
    ...(how !== undefined && { how }),
    at,
  };
  const failure = await ledger.approvalAnswered(id);
  if (!verdict.approved) return { refusal: faultResult("blocked", verdict), approval };
  if (failure === undefined) return { approval };
  return { refusal: faultResult("io", unrecordable(messageOf(failure))), approval };
}

function cut(text: string): string {
  return cutText(text, SHOWN_CHARS);
}
