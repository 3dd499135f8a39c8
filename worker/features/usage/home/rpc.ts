/** What the rest of the Worker asks a home about usage. */
import { RpcTarget } from "cloudflare:workers";
import type { BudgetKey } from "@edgecall/core/loop/budget.ts";
import type { DayUsage, ModelUsage } from "../contract.ts";
import { metricsPage } from "./metrics.ts";
import type { HomeAccess } from "../../../kernel/home/access.ts";
import type { UsageApi } from "../usage-api.ts";

export class UsageRpc extends RpcTarget implements UsageApi {
  readonly #at: HomeAccess;

  constructor(at: HomeAccess) {
    super();
    this.#at = at;
  }

  async correctSpending(difference: number, priced?: ModelUsage): Promise<void> {
    this.#at.home.spending.correct(difference, priced, Date.now());
  }

  async usage(days: number): Promise<DayUsage[]> {
    return this.#at.home.spending.days(days, Date.now());
  }

  async setBudgetTold(keys: BudgetKey[]): Promise<void> {
    this.#at.home.spending.setTold(keys, Date.now());
  }

  async modelFailed(name: string, times: number): Promise<void> {
    this.#at.home.spending.modelFailed(name, times, Date.now());
  }

  async modelAnswered(name: string): Promise<void> {
    this.#at.home.spending.modelAnswered(name);
  }

  async modelLearned(source: string, habits: string[], dropped: string[] = []): Promise<void> {
    this.#at.home.modelHabits.learned(source, { habits, dropped }, Date.now());
  }

  async metrics(): Promise<string> {
    return metricsPage(this.#at.home);
  }
}
