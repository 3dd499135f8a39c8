/** Where a model may make rules: in a conversation that goes on, and where what they say can be told. */

import type { ConversationContext } from "../../../kernel/conversation/context.ts";
import type { Turn } from "../../../kernel/conversation/store/rows.ts";
import type { Settings } from "../../../kernel/settings/settings.ts";

/** Not in a turn that a rule or another session began: nobody asks there, and nothing is told there. Guests make no rules. */
export function hasRuleTools(
  { isOneShot, name, chat }: ConversationContext,
  { origin }: Turn,
  { tools }: Settings,
): boolean {
  const isHeard = chat ? origin.reply !== undefined : !isOneShot && name.split("/")[1] === "api";
  const isAsked = origin.event !== "rule" && !origin.session;
  return tools.rules && isHeard && isAsked && origin.role !== "guest";
}
