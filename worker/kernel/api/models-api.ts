/** Methods of a home about its models: what they used, which are well, and what their endpoints take. */
import type { BudgetKey } from "@edgecall/core/loop/budget.ts";
import type { DayUsage, ModelUsage } from "./usage.ts";

export interface ModelsApi {
  /** A model call took so much more (or less) than was reserved for it. */
  correctSpending(difference: number, priced?: ModelUsage): Promise<void>;
  /** What the last days used, the oldest first. */
  usage(days: number): Promise<DayUsage[]>;
  /** Turns since the home was set up, and how many of them were answered without a model. */
  answered(): Promise<{ turns: number; withoutModel: number }>;
  setBudgetTold(keys: BudgetKey[]): Promise<void>;
  modelFailed(name: string, times: number): Promise<void>;
  modelAnswered(name: string): Promise<void>;
  /** A model's endpoint refused something, and took another form. @param source address and model @param dropped forms that it takes no more */
  modelLearned(source: string, habits: string[], dropped: string[]): Promise<void>;
}
