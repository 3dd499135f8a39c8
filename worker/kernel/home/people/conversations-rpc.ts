/** What the rest of the Worker asks a home about conversations. */
import { RpcTarget } from "cloudflare:workers";
import type { ListedConversation, Listing, ListQuery } from "../../api/conversation-list.ts";
import type { Plan } from "../../api/plan.ts";
import type { RosterQuestion } from "../../api/roster.ts";
import type { ReportedTurn } from "../../../features/usage/contract.ts";
import { confirmOutcomes } from "../calls/acks.ts";
import { refreshBorrowed } from "../../../features/lending/home/lender-calls.ts";
import { planOf } from "../status.ts";
import type { HomeAccess } from "../access.ts";
import type { ConversationsApi } from "../../api/conversations-api.ts";

export class ConversationsRpc extends RpcTarget implements ConversationsApi {
  readonly #at: HomeAccess;

  constructor(at: HomeAccess) {
    super();
    this.#at = at;
  }

  async plan(reserve: number | undefined, began?: Listing, question?: RosterQuestion): Promise<Plan> {
    const now = Date.now();
    refreshBorrowed(this.#at.home, now);
    // Read first: a change while the search index is made calls for a new plan.
    const version = this.#at.home.roster.version(now);
    const roster = await this.#at.home.roster.forQuestion(question, now);
    const plan = planOf(this.#at.home, roster, version);
    if (reserve !== undefined) this.#at.home.spending.add(reserve, 1, Date.now());
    if (began) this.#at.home.conversations.turnBegan(began, Date.now());
    return plan;
  }

  async turnEnded(turn: ReportedTurn, confirmed: readonly string[]): Promise<void> {
    await confirmOutcomes(this.#at.home, confirmed);
    const { counters, conversations } = this.#at.home;
    const now = Date.now();
    counters.turnEnded(turn, now);
    if (turn.conversation !== undefined) conversations.turnEnded(turn.conversation, now);
  }

  async conversationsOf(principal: string, query: ListQuery): Promise<ListedConversation[]> {
    return this.#at.home.conversations.of(principal, query);
  }

  async renameConversation(name: string, title: string): Promise<string | undefined> {
    return this.#at.home.conversations.rename(name, title);
  }

  async sharedWith(name: string): Promise<string[]> {
    return this.#at.home.conversations.sharedWith(name);
  }

  async shareConversation(name: string, principals: string[]): Promise<boolean> {
    return this.#at.home.conversations.share(name, principals);
  }

  async forgetConversation(name: string): Promise<void> {
    this.#at.home.conversations.remove(name);
    this.#at.home.files.forget(name);
  }
}
