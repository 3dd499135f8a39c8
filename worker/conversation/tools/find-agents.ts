/** Answers a call of `find_agents` with what Home finds. It is a read that no device sees, so it is neither approved nor recorded. */
import { checkFindAgents } from "../../api/find-agents.ts";
import { logError } from "../../log.ts";
import type { ConversationContext } from "../context.ts";
import { settleCall } from "../settle-call.ts";
import type { StoredCall, Turn } from "../store/rows.ts";

/** @returns the call, when Home did not answer */
export async function findAgents(
  context: ConversationContext,
  turn: Turn,
  call: StoredCall,
): Promise<StoredCall | undefined> {
  const checked = checkFindAgents(call);
  if (!checked.ok) {
    settleCall(context, call.id, checked.outcome);
    return undefined;
  }
  const began = Date.now();
  try {
    const { text, sources } = await context.home().findAgents(checked.query, turn.origin.limits?.agents);
    settleCall(context, call.id, { status: "success", text, sources, elapsedMs: Date.now() - began });
    return undefined;
  } catch (error) {
    logError("find_agents.failed", error, { turn: turn.id, call: call.id });
    return call;
  }
}
