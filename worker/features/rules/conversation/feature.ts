/** What rules add to a conversation. */

import type { ConversationFeature } from "../../../kernel/conversation/feature.ts";
import { ruleTools, unfolded } from "../model-tools.ts";
import { hasRuleTools } from "./offered.ts";

export const rules = {
  tools: { ...ruleTools, isOffered: hasRuleTools, meant: unfolded, asksAgain: true },
} satisfies ConversationFeature;
