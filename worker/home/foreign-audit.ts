/** The record of an agent that keeps none itself: Home writes what it knows of the call. */
import type { AuditLine } from "@edgecall/core/protocol/audit.ts";
import { auditLine } from "@edgecall/core/tools/audit-line.ts";
import type { LedgerCall, SettledOutcome } from "./ledger.ts";
import type { Question } from "./questions.ts";

/** The agent of a call that was cancelled before it got here. */
export const NOBODY = "-";

/** Of a failure, as the devices have it. */
const ERROR_CHARS = 500;

/** @param approved what a person was asked before it was sent */
export function foreignLine(
  call: LedgerCall,
  outcome: SettledOutcome,
  approved: Question | undefined,
): AuditLine {
  const isTool = call.command === "tool";
  const { status, errorType, text, elapsedMs } = outcome;
  return auditLine(
    {
      timestamp: new Date(call.createdAt).toISOString(),
      agent_id: call.agent,
      tool: String(isTool ? call.payload.tool : call.command).slice(0, 128),
      parameters: isTool ? call.payload.parameters : call.payload,
      result: status,
      ...(errorType && { error_type: errorType }),
      ...(status === "error" && { error: text.slice(0, ERROR_CHARS) }),
      exit_code: null,
      elapsed_ms: elapsedMs,
      call_id: call.id,
      request_id: call.id,
      caller: call.caller,
      ...(approved && { approval: approvalOf(approved) }),
    },
    [],
  );
}

function approvalOf({ answer, answeredBy, answeredAt }: Question): NonNullable<AuditLine["approval"]> {
  return {
    approved: answer === "approve",
    ...(answeredBy !== null && { by: answeredBy }),
    at: new Date(answeredAt ?? 0).toISOString(),
  };
}
