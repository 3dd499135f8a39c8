/** Answers a call of `find_agents` with what Home finds. It is a read that no device sees, so it is neither approved nor recorded. */

import { jsonSchema } from "@edgecall/core/protocol/parse.ts";
import { advisedOf } from "@edgecall/core/tools/contract.ts";
import { errorText } from "@edgecall/core/tools/errors.ts";
import { parseArguments } from "@edgecall/core/tools/runner.ts";
import { type FindQuery, findAgentsTool } from "../../api/find-agents.ts";
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
  const { name, input } = findAgentsTool;
  const parsed = parseArguments(findAgentsTool, call.args);
  if (call.problem !== undefined || !parsed.ok) {
    const words = parsed.ok
      ? errorText.invalidParams(name, call.problem ?? "", jsonSchema(input))
      : advisedOf(parsed.fault);
    settleCall(context, call.id, {
      status: "error",
      errorType: "invalid_params",
      ...words,
      elapsedMs: 0,
      sources: [],
    });
    return undefined;
  }
  const began = Date.now();
  try {
    // SAFETY: parseArguments parsed with findAgentsTool's input.
    const query = parsed.input as FindQuery;
    const { text, sources } = await context.home().findAgents(query, turn.origin.limits?.agents);
    settleCall(context, call.id, { status: "success", text, sources, elapsedMs: Date.now() - began });
    return undefined;
  } catch (error) {
    logError("find_agents.failed", error, { turn: turn.id, call: call.id });
    return call;
  }
}
