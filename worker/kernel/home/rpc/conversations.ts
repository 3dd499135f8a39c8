/** What the rest of the Worker asks a home about conversations. */

import type { ConversationsApi } from "../../api/conversations-api.ts";
import { namesModel } from "../../settings/settings.ts";
import { rosterOf } from "../agents/home-roster.ts";
import { confirmOutcomes } from "../calls/acks.ts";
import { emit, plannedReply } from "../feature.ts";
import { filesOf } from "../files/file-list.ts";
import { modelsOf } from "../models/models.ts";
import type { HomePart } from "../part.ts";
import { conversationListOf } from "../people/conversation-list.ts";
import { planOf } from "../status.ts";
import { spendingOf } from "../usage/spending.ts";
import { countersOf } from "../usage/usage-counters.ts";

export const conversationsRpc: HomePart<ConversationsApi> = {
  async plan({ home }, reserve, began, question) {
    const now = Date.now();
    void emit("turnPlanned", home, now);
    // Read first: a change while the search index is made calls for a new plan.
    const version = rosterOf(home).version(now);
    const roster = await rosterOf(home).forQuestion(question, now);
    const reply = question?.sentence && (await plannedReply(home, question, now));
    const models = await modelsOf(home);
    const plan = {
      ...planOf(home, roster, version),
      ...(!namesModel(home.env) && { models }),
      ...(reply && { reply }),
    };
    const asksModel = !reply?.first && models.length > 0;
    if (reserve !== undefined && asksModel) spendingOf(home).add(reserve, 1, Date.now());
    if (began) conversationListOf(home).turnBegan(began, Date.now());
    return plan;
  },
  async turnEnded({ home }, turn, confirmed) {
    await confirmOutcomes(home, confirmed);
    const now = Date.now();
    countersOf(home).turnEnded(turn, now);
    if (turn.conversation !== undefined) conversationListOf(home).turnEnded(turn.conversation, now);
  },
  conversationsOf: async ({ home }, principal, query) => conversationListOf(home).of(principal, query),
  renameConversation: async ({ home }, name, title) => conversationListOf(home).rename(name, title),
  sharedWith: async ({ home }, name) => conversationListOf(home).sharedWith(name),
  shareConversation: async ({ home }, name, principals) => conversationListOf(home).share(name, principals),
  async forgetConversation({ home }, name) {
    conversationListOf(home).remove(name);
    filesOf(home).forget(name);
  },
};
