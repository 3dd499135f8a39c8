/** What the rest of the Worker asks a home about rules. */

import { clockOf } from "../../../kernel/home/clock.ts";
import type { HomePart } from "../../../kernel/home/part.ts";
import type { RulesApi } from "../rules-api.ts";
import { changeClock } from "./clock-changed.ts";
import { readLanguages } from "./rule-languages.ts";
import { changeRuleBy, removeRuleBy, ruleList } from "./views.ts";

export const rulesRpc: HomePart<RulesApi> = {
  async list({ home }, viewer) {
    await readLanguages(home);
    return ruleList(home, viewer);
  },
  clock: async ({ home }) => clockOf(home).view(),
  changeClock: async ({ home }, change, by) => await changeClock(home, change, by),
  async change({ home }, id, change, viewer) {
    await readLanguages(home);
    return await changeRuleBy(home, id, change, viewer);
  },
  remove: async ({ home }, id, viewer) => await removeRuleBy(home, id, viewer),
};
