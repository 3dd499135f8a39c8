/** What history adds to a conversation. */
import type { ConversationFeature } from "../../../kernel/conversation/feature.ts";
import { historyTools } from "../model-tools.ts";

export const history = {
  tools: {
    ...historyTools,
    /** Contacts and presence say when people are at home, so guests have no past, and a group is a guest. */
    isOffered({ plan }, { origin }, { tools }) {
      // A call may come before the plan of its turn was fetched again: the home answers it.
      const isKept = plan === undefined || plan.plan.roster.history === true;
      return tools.history && isKept && origin.role !== "guest";
    },
  },
} satisfies ConversationFeature;
