/** What the rest of the Worker asks a home about conversations. */

import type { ListedConversation, Listing, ListQuery } from "../../api/conversation-list.ts";
import type { ConversationsApi } from "../../api/conversations-api.ts";
import type { Plan } from "../../api/plan.ts";
import type { RosterQuestion } from "../../api/roster.ts";
import type { ReportedTurn } from "../../api/usage.ts";
import { rosterOf } from "../agents/home-roster.ts";
import { confirmOutcomes } from "../calls/acks.ts";
import { emit, plannedReply } from "../feature.ts";
import { filesOf } from "../files/file-list.ts";
import { HomePart } from "../part.ts";
import { conversationListOf } from "../people/conversation-list.ts";
import { planOf } from "../status.ts";
import { spendingOf } from "../usage/spending.ts";
import { countersOf } from "../usage/usage-counters.ts";

export class ConversationsRpc extends HomePart implements ConversationsApi {
  async plan(reserve: number | undefined, began?: Listing, question?: RosterQuestion): Promise<Plan> {
    const now = Date.now();
    void emit("turnPlanned", this.home, now);
    // Read first: a change while the search index is made calls for a new plan.
    const version = rosterOf(this.home).version(now);
    const roster = await rosterOf(this.home).forQuestion(question, now);
    const reply = question?.sentence && (await plannedReply(this.home, question, now));
    const plan = { ...planOf(this.home, roster, version), ...(reply && { reply }) };
    const asksModel = !reply?.first;
    if (reserve !== undefined && asksModel) spendingOf(this.home).add(reserve, 1, Date.now());
    if (began) conversationListOf(this.home).turnBegan(began, Date.now());
    return plan;
  }

  async turnEnded(turn: ReportedTurn, confirmed: readonly string[]): Promise<void> {
    await confirmOutcomes(this.home, confirmed);
    const now = Date.now();
    countersOf(this.home).turnEnded(turn, now);
    if (turn.conversation !== undefined) conversationListOf(this.home).turnEnded(turn.conversation, now);
  }

  async conversationsOf(principal: string, query: ListQuery): Promise<ListedConversation[]> {
    return conversationListOf(this.home).of(principal, query);
  }

  async renameConversation(name: string, title: string): Promise<string | undefined> {
    return conversationListOf(this.home).rename(name, title);
  }

  async sharedWith(name: string): Promise<string[]> {
    return conversationListOf(this.home).sharedWith(name);
  }

  async shareConversation(name: string, principals: string[]): Promise<boolean> {
    return conversationListOf(this.home).share(name, principals);
  }

  async forgetConversation(name: string): Promise<void> {
    conversationListOf(this.home).remove(name);
    filesOf(this.home).forget(name);
  }
}
