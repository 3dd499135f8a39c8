/** What people decide about the home stands in the record of calls: who connects a program, lends an agent or changes a device. */
import type { AuditLine } from "@edgecall/core/protocol/audit.ts";
import { auditLine } from "@edgecall/core/tools/audit-line.ts";
import { GATEWAY_AGENT } from "../../api/audit.ts";
import type { HomeContext } from "../context.ts";
import { addToAudit } from "./add-to-audit.ts";

/** @param tool names the decision, for example `lend` */
export function auditDecision(
  home: HomeContext,
  tool: string,
  caller: AuditLine["caller"],
  parameters: Record<string, unknown>,
): void {
  const id = crypto.randomUUID();
  const line = {
    timestamp: new Date().toISOString(),
    agent_id: GATEWAY_AGENT,
    tool,
    parameters,
    result: "success" as const,
    exit_code: null,
    elapsed_ms: 0,
    call_id: id,
    request_id: id,
    caller,
  };
  addToAudit(home, GATEWAY_AGENT, id, [auditLine(line, [])]);
}
