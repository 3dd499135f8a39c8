/** Home's data for the model calls of a turn. */

import type { BudgetKey, Spent } from "@edgecall/core/loop/budget.ts";
import type { ModelHealth, NamedModel } from "@edgecall/core/loop/models.ts";
import type { Language } from "@edgecall/core/text/languages.ts";
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
  /** The models in effect, where the variables name none: the one that an owner set. Absent: those of the settings. */
  models?: readonly NamedModel[];
  /** The health of the models. */
  health: ModelHealth;
  /** What the models' endpoints refuse. Absent in a plan of an earlier version's object. */
  habits?: ModelHabits;
  /** The day's usage so far. `told`: the budgets that people were warned about. */
  day: Spent;
  told: BudgetKey[];
  /** What answers the question's sentence without a model. Absent: nothing does, or there was no sentence. */
  reply?: PlannedReply;
};

/** A call that a feature plans in a model's place, by the names and arguments of a model's tools. */
export type PlannedCall = { name: string; args: Record<string, unknown> };

/** An answer to a person's sentence that needs no model: calls, whose outcomes are told, or words. */
export type PlannedReply = {
  /** It comes before a model. Absent: only where no model answers. */
  first?: true;
  /** Batches of calls, in their order. A batch runs only where all of the one before succeeded. */
  steps?: PlannedCall[][];
  /** A person is asked about each change of these calls, for this reason, whatever the devices' settings say. */
  asks?: string;
  /** The whole answer. */
  answer?: string;
  /** What a person is told whom neither the above nor a model answers. */
  instead?: string;
  /** For the feature that tells the outcomes. It stands in the turn's rows, so it is small. `language`: the person's. */
  note?: PlannedNote;
};

export type PlannedNote = { language?: Language } & Record<string, unknown>;
