/** What the rest of the Worker asks a home about its models. */

import type { ModelsApi } from "../../api/models-api.ts";
import { auditDecision } from "../audit/decisions.ts";
import { modelsOf } from "../models/models.ts";
import { ownModelOf } from "../models/own-model.ts";
import type { HomePart } from "../part.ts";
import { modelHabitsOf } from "../usage/model-habits.ts";
import { spendingOf } from "../usage/spending.ts";
import { countersOf } from "../usage/usage-counters.ts";

export const modelsRpc: HomePart<ModelsApi> = {
  list: async (at) => (at.isBlank ? undefined : [...(await modelsOf(at.home))]),
  async own({ home }) {
    const own = ownModelOf(home).get();
    const problem = await ownModelOf(home).problem();
    return own && { ...own, ...(problem !== undefined && { problem }) };
  },
  endpoint: async ({ home }) => await ownModelOf(home).endpoint(),
  async setOwn({ home }, endpoint, { name, role }, keepsKey) {
    await ownModelOf(home).set(endpoint, name, Date.now(), keepsKey);
    const caller = { principal: name, role, channel: "api" };
    auditDecision(home, "model", caller, { base_url: endpoint.baseUrl, model: endpoint.model });
  },
  async removeOwn({ home }, { name, role }) {
    ownModelOf(home).remove();
    auditDecision(home, "model_remove", { principal: name, role, channel: "api" }, {});
  },
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
