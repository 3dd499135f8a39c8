/** What rules that act add to a conversation. */
import type { ConversationFeature } from "../../../kernel/conversation/feature.ts";
import { automationTools } from "../model-tools.ts";

export const automations = {
  tools: {
    ...automationTools,
    /** Where a model may make rules (features/rules), of a person alone, and where the bridge runs such rules. */
    isOffered({ isOneShot, name, chat, plan }, { origin }, { tools }) {
      const isHeard = chat ? origin.reply !== undefined : !isOneShot && name.split("/")[1] === "api";
      const { agents, readsOnly } = origin.limits ?? {};
      const isPersons = origin.role !== "guest" && !origin.session && origin.event === undefined && !agents;
      // A call may come before the plan of its turn was fetched again: the home answers it.
      return (
        tools.rules &&
        isHeard &&
        isPersons &&
        !readsOnly &&
        (plan === undefined || plan.plan.roster.acts === true)
      );
    },
    asksAgain: true,
  },
} satisfies ConversationFeature;
