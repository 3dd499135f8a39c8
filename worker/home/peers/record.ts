/** Lending and borrowing stand in the record of both homes. */
import { auditLine } from "@edgecall/core/tools/audit-line.ts";
import { GATEWAY_AGENT } from "../../api/audit.ts";
import { FEDERATION } from "../../api/peers.ts";
import { addToRecord } from "../audit/outlet.ts";
import type { HomeContext } from "../context.ts";

/** @param by an owner of this home, or the label of the other one */
export function recordGrant(
  home: HomeContext,
  tool: "lend" | "borrow",
  by: string,
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
    caller: { principal: by, role: "owner", channel: FEDERATION },
  };
  addToRecord(home, GATEWAY_AGENT, id, [auditLine(line, [])]);
}
