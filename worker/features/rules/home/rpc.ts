/** What the rest of the Worker asks a home about rules. */

import type { Parsed } from "@edgecall/core/protocol/parse.ts";
import type { Viewer } from "../../../kernel/api/may-see.ts";
import { HomePart } from "../../../kernel/home/part.ts";
import type { ClockBody, ClockView } from "../clock-contract.ts";
import type { LostNotice, Pressed, RuleBody, RuleChanged, RuleList, RulePress } from "../contract.ts";
import type { RulesApi } from "../rules-api.ts";
import { clockOf } from "./clock.ts";
import { changeClock } from "./clock-changed.ts";
import { onLost } from "./hand-over.ts";
import { pressRule } from "./press.ts";
import { changeRuleBy, removeRuleBy, ruleList } from "./views.ts";

export class RulesRpc extends HomePart implements RulesApi {
  async pressRule(press: RulePress): Promise<Pressed> {
    return await pressRule(this.home, press);
  }

  async noticeLost(lost: LostNotice): Promise<void> {
    await onLost(this.home, lost);
  }

  async rules(viewer: Viewer): Promise<RuleList> {
    return ruleList(this.home, viewer);
  }

  async clock(): Promise<ClockView> {
    return clockOf(this.home).view();
  }

  async changeClock(change: ClockBody, by: string): Promise<Parsed<ClockView>> {
    return await changeClock(this.home, change, by);
  }

  async changeRule(id: string, change: RuleBody, viewer: Viewer): Promise<RuleChanged> {
    return await changeRuleBy(this.home, id, change, viewer);
  }

  async removeRule(id: string, viewer: Viewer): Promise<boolean> {
    return await removeRuleBy(this.home, id, viewer);
  }
}
