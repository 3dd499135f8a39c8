/** What the rest of the Worker asks a home about usage. */

import type { BudgetKey } from "@edgecall/core/loop/budget.ts";
import { HomePart } from "../../../kernel/home/part.ts";
import type { DayUsage, ModelUsage } from "../contract.ts";
import type { UsageApi } from "../usage-api.ts";
import { metricsPage } from "./metrics.ts";
import { modelHabitsOf } from "./model-habits.ts";
import { spendingOf } from "./spending.ts";

export class UsageRpc extends HomePart implements UsageApi {
  async correctSpending(difference: number, priced?: ModelUsage): Promise<void> {
    spendingOf(this.home).correct(difference, priced, Date.now());
  }

  async usage(days: number): Promise<DayUsage[]> {
    return spendingOf(this.home).days(days, Date.now());
  }

  async setBudgetTold(keys: BudgetKey[]): Promise<void> {
    spendingOf(this.home).setTold(keys, Date.now());
  }

  async modelFailed(name: string, times: number): Promise<void> {
    spendingOf(this.home).modelFailed(name, times, Date.now());
  }

  async modelAnswered(name: string): Promise<void> {
    spendingOf(this.home).modelAnswered(name);
  }

  async modelLearned(source: string, habits: string[], dropped: string[] = []): Promise<void> {
    modelHabitsOf(this.home).learned(source, { habits, dropped }, Date.now());
  }

  async metrics(): Promise<string> {
    return metricsPage(this.home);
  }
}
