/** What Home tells a conversation for its next model call: asked for, or sent along with a result. */
import type { BudgetKey, Spent } from "@edgecall/core/loop/budget.ts";
import type { ModelHealth } from "@edgecall/core/loop/models.ts";
import type { Roster } from "./roster.ts";

export type Plan = {
  /** Who is there. */
  roster: Roster;
  /** Which models are well. */
  health: ModelHealth;
  /** What the day took so far, and which of its budgets people were told of. */
  day: Spent;
  told: BudgetKey[];
};
