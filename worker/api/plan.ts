/** Home's data for a conversation's next model call, on request or together with a result. */
import type { BudgetKey, Spent } from "@edgecall/core/loop/budget.ts";
import type { ModelHealth } from "@edgecall/core/loop/models.ts";
import type { Roster } from "./roster.ts";

export type Plan = {
  /** The agents and the bridge. */
  roster: Roster;
  /** The health of the models. */
  health: ModelHealth;
  /** The day's usage so far. `told`: the budgets that people were warned about. */
  day: Spent;
  told: BudgetKey[];
};
