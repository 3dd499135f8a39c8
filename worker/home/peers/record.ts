/** Lending and borrowing stand in the record of both homes. */
import { FEDERATION } from "../../api/peers.ts";
import { recordDecision } from "../audit/decisions.ts";
import type { HomeContext } from "../context.ts";

/** @param by an owner of this home, or the label of the other one */
export function recordGrant(
  home: HomeContext,
  tool: "lend" | "borrow",
  by: string,
  parameters: Record<string, unknown>,
): void {
  recordDecision(home, tool, { principal: by, role: "owner", channel: FEDERATION }, parameters);
}
