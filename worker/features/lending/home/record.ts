/** Lending and borrowing stand in the record of both homes. */

import { FEDERATION } from "../../../kernel/api/agent-ids.ts";
import type { HomeContext } from "../../../kernel/home/context.ts";
import { recordDecision } from "../../../kernel/home/record/decisions.ts";

/** @param by an owner of this home, or the label of the other one */
export function recordGrant(
  home: HomeContext,
  tool: "lend" | "borrow",
  by: string,
  parameters: Record<string, unknown>,
): void {
  recordDecision(home, tool, { principal: by, role: "owner", channel: FEDERATION }, parameters);
}
