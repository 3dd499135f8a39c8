/** Home's data for the model calls of a turn. */
import type { BudgetKey, Spent } from "@edgecall/core/loop/budget.ts";
import type { ModelHealth } from "@edgecall/core/loop/models.ts";
import type { Roster } from "./roster.ts";

/** Forms that endpoints take (core/loop/habits.ts), by address and model. A later version may know others. */
export type ModelHabits = Readonly<Record<string, readonly string[]>>;

export type Plan = {
  /** The bridge, and the agents that this turn may need. */
  roster: Roster;
  /** The home's name, and its time zone; absent: rules are switched off. */
  home?: { name: string; zone: string };
  /** Of the roster. It differs as soon as an agent, or the bridge, comes, goes or describes itself otherwise. */
  version: number;
  /** The health of the models. */
  health: ModelHealth;
  /** What the models' endpoints refuse. Absent in a plan of an earlier version's object. */
  habits?: ModelHabits;
  /** The day's usage so far. `told`: the budgets that people were warned about. */
  day: Spent;
  told: BudgetKey[];
};
