/** Methods of a home about conversations. */

import type { ListedConversation, Listing, ListQuery } from "./conversation-list.ts";
import type { Plan } from "./plan.ts";
import type { RosterQuestion } from "./roster.ts";
import type { ReportedTurn } from "./usage.ts";

export interface ConversationsApi {
  /**
   * What the model calls of a turn need to know: the roster, which models are healthy, and what the day took so far.
   * @param reserve tokens to count for the day beforehand; absent: days are not counted
   * @param began the conversation whose turn began, if it is to be listed
   * @param question absent: a large home's roster names no agent
   */
  plan(reserve: number | undefined, began?: Listing, question?: RosterQuestion): Promise<Plan>;
  /** Counts a turn of one of this home's conversations. @param confirmed as with `submit` */
  turnEnded(turn: ReportedTurn, confirmed: readonly string[]): Promise<void>;
  conversationsOf(principal: string, query: ListQuery): Promise<ListedConversation[]>;
  /** @returns the title as it is stored; undefined: the conversation is not listed */
  renameConversation(name: string, title: string): Promise<string | undefined>;
  /** Principals with whom a conversation was shared by name. */
  sharedWith(name: string): Promise<string[]>;
  /** @returns false: the home shares too much already */
  shareConversation(name: string, principals: string[]): Promise<boolean>;
  forgetConversation(name: string): Promise<void>;
}
