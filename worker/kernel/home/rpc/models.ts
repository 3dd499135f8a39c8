/** What the rest of the Worker asks a home about its models. */

import type { BudgetKey } from "@edgecall/core/loop/budget.ts";
import type { ModelsApi } from "../../api/models-api.ts";
import type { DayUsage, ModelUsage } from "../../api/usage.ts";
import { HomePart } from "../part.ts";
import { modelHabitsOf } from "../usage/model-habits.ts";
import { spendingOf } from "../usage/spending.ts";

export class ModelsRpc extends HomePart implements ModelsApi {
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
}
