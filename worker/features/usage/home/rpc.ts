/** What the rest of the Worker asks a home about usage. */

import { RpcTarget } from "cloudflare:workers";
import type { BudgetKey } from "@edgecall/core/loop/budget.ts";
import type { HomeAccess } from "../../../kernel/home/access.ts";
import type { DayUsage, ModelUsage } from "../contract.ts";
import type { UsageApi } from "../usage-api.ts";
import { metricsPage } from "./metrics.ts";
import { modelHabitsOf } from "./model-habits.ts";
import { spendingOf } from "./spending.ts";

export class UsageRpc extends RpcTarget implements UsageApi {
  readonly #at: HomeAccess;

  constructor(at: HomeAccess) {
    super();
    this.#at = at;
  }

  async correctSpending(difference: number, priced?: ModelUsage): Promise<void> {
    spendingOf(this.#at.home).correct(difference, priced, Date.now());
  }

  async usage(days: number): Promise<DayUsage[]> {
    return spendingOf(this.#at.home).days(days, Date.now());
  }

  async setBudgetTold(keys: BudgetKey[]): Promise<void> {
    spendingOf(this.#at.home).setTold(keys, Date.now());
  }

  async modelFailed(name: string, times: number): Promise<void> {
    spendingOf(this.#at.home).modelFailed(name, times, Date.now());
  }

  async modelAnswered(name: string): Promise<void> {
    spendingOf(this.#at.home).modelAnswered(name);
  }

  async modelLearned(source: string, habits: string[], dropped: string[] = []): Promise<void> {
    modelHabitsOf(this.#at.home).learned(source, { habits, dropped }, Date.now());
  }

  async metrics(): Promise<string> {
    return metricsPage(this.#at.home);
  }
}
