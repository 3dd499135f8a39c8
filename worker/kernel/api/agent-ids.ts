/** Ids of agents: those of this home, and those that other homes lend to it. */
import { AGENT_ID, isReservedId, RESERVED_ID } from "@edgecall/core/protocol/names.ts";
import { z } from "@edgecall/core/protocol/parse.ts";
import { HOME_ID } from "../settings/tokens.ts";

/** A lent agent's id at the borrower is `home/agent`; no agent of an own home has a slash in its id. */
export function isLent(agent: string): boolean {
  return agent.includes("/");
}

/** True for an id that a call may name. A model may have invented any other, so no record contains it. */
export function isAgentForm(id: string): boolean {
  const [home = "", ...agent] = id.split("/");
  return AGENT_ID.test(id) || (agent.length === 1 && HOME_ID.test(home) && AGENT_ID.test(agent[0] ?? ""));
}

/** The channel of callers of other homes, and of what is lent and borrowed in the record. */
export const LENDING_CHANNEL = "federation";

export const AgentId = z.string().check(
  z.regex(AGENT_ID, "expected an agent's id: 1 to 64 letters, digits, _ or -"),
  z.refine((id) => !isReservedId(id), RESERVED_ID),
);
