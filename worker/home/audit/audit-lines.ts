/** Lines that Home writes itself: of an agent that keeps no record, and of calls that never got to their agent. */

import type { AuditLine } from "@edgecall/core/protocol/audit.ts";
import type { Caller } from "@edgecall/core/protocol/mqtt.ts";
import { forPerson } from "@edgecall/core/tools/advice.ts";
import { auditLine } from "@edgecall/core/tools/audit-line.ts";
import type { SettledOutcome } from "../../api/calls.ts";
import type { Question } from "../../api/questions.ts";
import type { LedgerCall } from "../calls/ledger.ts";

/** The agent of a call that was cancelled before it got here, or that named none. */
export const NOBODY = "-";

/** Of a failure, as the devices have it. */
const ERROR_CHARS = 500;

/** @param approved what a person was asked before it was sent */
export function foreignLine(
  call: LedgerCall,
  outcome: SettledOutcome,
  approved: Question | undefined,
): AuditLine {
  return { ...homeLine(call, outcome, call.createdAt), ...(approved && { approval: approvalOf(approved) }) };
}

/** What somebody asked of an agent, whether or not it became a call of the ledger. */
export type Asked = {
  id: string;
  agent: string;
  command: string;
  payload: Record<string, unknown>;
  caller: Caller;
};

/** @param at when it was asked, epoch ms */
export function homeLine(
  { id, agent, command, payload, caller }: Asked,
  outcome: SettledOutcome,
  at: number,
): AuditLine {
  const isTool = command === "tool";
  const { status, errorType, elapsedMs } = outcome;
  return auditLine(
    {
      timestamp: new Date(at).toISOString(),
      agent_id: agent,
      tool: String(isTool ? payload.tool : command).slice(0, 128),
      parameters: isTool ? payload.parameters : payload,
      result: status,
      ...(errorType && { error_type: errorType }),
      ...(status === "error" && { error: forPerson(outcome).slice(0, ERROR_CHARS) }),
      exit_code: null,
      elapsed_ms: elapsedMs,
      call_id: id,
      request_id: id,
      caller,
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
