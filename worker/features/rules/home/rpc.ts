/** What the rest of the Worker asks a home about rules. */

import type { Parsed } from "@edgecall/core/protocol/parse.ts";
import type { ClockBody, ClockView } from "../../../kernel/api/clock.ts";
import type { Viewer } from "../../../kernel/api/may-see.ts";
import { clockOf } from "../../../kernel/home/clock.ts";
import { HomePart } from "../../../kernel/home/part.ts";
import type { RuleBody, RuleChanged, RuleList } from "../contract.ts";
import type { RulesApi } from "../rules-api.ts";
import { changeClock } from "./clock-changed.ts";
import { readLanguages } from "./rule-languages.ts";
import { changeRuleBy, removeRuleBy, ruleList } from "./views.ts";

export class RulesRpc extends HomePart implements RulesApi {
  async list(viewer: Viewer): Promise<RuleList> {
    await readLanguages(this.home);
    return ruleList(this.home, viewer);
  }

  async clock(): Promise<ClockView> {
    return clockOf(this.home).view();
  }

  async changeClock(change: ClockBody, by: string): Promise<Parsed<ClockView>> {
    return await changeClock(this.home, change, by);
  }

  async change(id: string, change: RuleBody, viewer: Viewer): Promise<RuleChanged> {
    await readLanguages(this.home);
    return await changeRuleBy(this.home, id, change, viewer);
  }

  async remove(id: string, viewer: Viewer): Promise<boolean> {
    return await removeRuleBy(this.home, id, viewer);
  }
}
