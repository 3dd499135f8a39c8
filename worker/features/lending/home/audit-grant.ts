/** Lending and borrowing stand in the record of both homes. */

import { LENDING_CHANNEL } from "../../../kernel/api/agent-ids.ts";
import { auditDecision } from "../../../kernel/home/audit/decisions.ts";
import type { HomeContext } from "../../../kernel/home/context.ts";

/** @param by an owner of this home, or the label of the other one */
export function auditGrant(
  home: HomeContext,
  tool: "lend" | "borrow",
  by: string,
  parameters: Record<string, unknown>,
): void {
  auditDecision(home, tool, { principal: by, role: "owner", channel: LENDING_CHANNEL }, parameters);
}
