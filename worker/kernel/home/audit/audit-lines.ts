/** Lines of the record that Home writes itself: for an agent that keeps no record, and for calls that never reached their agent. */

import type { AuditLine } from "@edgecall/core/protocol/audit.ts";
import type { Caller } from "@edgecall/core/protocol/mqtt.ts";
import { cutText } from "@edgecall/core/text/cut.ts";
import { forPerson } from "@edgecall/core/tools/advice.ts";
import { auditLine } from "@edgecall/core/tools/audit-line.ts";
import type { SettledOutcome } from "../../api/calls.ts";
import type { Question } from "../../api/questions.ts";
import type { ApprovedCall, LedgerCall } from "../ledger/ledger.ts";

/** The agent of a call that was cancelled before it got here, or that named no valid agent. */
export const NO_AGENT = "-";

/** Characters of an error, as on the devices. */
const ERROR_CHARS = 500;

/** @param question that a person answered before the call was sent */
export function foreignLine(
  call: LedgerCall,
  outcome: SettledOutcome,
  question: Question | undefined,
): AuditLine {
  const { approved } = call.flags;
  const approval = question ? approvalOf(question) : approved && approvalBy(approved);
  return { ...homeLine(call, outcome, call.createdAt), ...(approval && { approval }) };
}

/** A call as it was asked for, whether or not it is in the ledger. */
export type RequestedCall = {
  id: string;
  agent: string;
  command: string;
  payload: Record<string, unknown>;
  caller: Caller;
};

/** @param at when it was asked for, epoch ms */
export function homeLine(
  { id, agent, command, payload, caller }: RequestedCall,
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
      ...(status === "error" && { error: cutText(forPerson(outcome), ERROR_CHARS) }),
      exit_code: null,
      elapsed_ms: elapsedMs,
      call_id: id,
      request_id: id,
      caller,
    },
    [],
  );
}

function approvalBy({ at, ...approved }: ApprovedCall): NonNullable<AuditLine["approval"]> {
  return { approved: true, at: new Date(at).toISOString(), ...approved };
}

function approvalOf({
  answer,
  answeredBy,
  answeredHow,
  answeredAt,
}: Question): NonNullable<AuditLine["approval"]> {
  return {
    approved: answer === "approve",
    ...(answeredBy !== null && { by: answeredBy }),
    ...(answeredHow !== null && { how: answeredHow }),
    at: new Date(answeredAt ?? 0).toISOString(),
  };
}
