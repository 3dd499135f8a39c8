/** What the rest of the Worker asks a home about its models. */

import type { ModelsApi } from "../../api/models-api.ts";
import type { HomePart } from "../part.ts";
import { modelHabitsOf } from "../usage/model-habits.ts";
import { spendingOf } from "../usage/spending.ts";
import { countersOf } from "../usage/usage-counters.ts";

export const modelsRpc: HomePart<ModelsApi> = {
  async correctSpending({ home }, difference, priced) {
    spendingOf(home).correct(difference, priced, Date.now());
  },
  usage: async ({ home }, days) => spendingOf(home).days(days, Date.now()),
  answered: async ({ home }) => countersOf(home).answered(),
  async setBudgetTold({ home }, keys) {
    spendingOf(home).setTold(keys, Date.now());
  },
  async modelFailed({ home }, name, times) {
    spendingOf(home).modelFailed(name, times, Date.now());
  },
  async modelAnswered({ home }, name) {
    spendingOf(home).modelAnswered(name);
  },
  async modelLearned({ home }, source, habits, dropped = []) {
    modelHabitsOf(home).learned(source, { habits, dropped }, Date.now());
  },
};
