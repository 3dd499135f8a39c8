/** What the rest of the Worker asks a home about rules. */

import { RpcTarget } from "cloudflare:workers";
import type { Parsed } from "@edgecall/core/protocol/parse.ts";
import type { Viewer } from "../../../kernel/api/may-see.ts";
import type { HomeAccess } from "../../../kernel/home/access.ts";
import type { ClockBody, ClockView } from "../clock-contract.ts";
import type { LostNotice, Pressed, RuleBody, RuleChanged, RuleList, RulePress } from "../contract.ts";
import type { RulesApi } from "../rules-api.ts";
import { clockOf } from "./clock.ts";
import { changeClock } from "./clock-changed.ts";
import { onLost } from "./hand-over.ts";
import { pressRule } from "./press.ts";
import { changeRuleBy, removeRuleBy, ruleList } from "./views.ts";

export class RulesRpc extends RpcTarget implements RulesApi {
  readonly #at: HomeAccess;

  constructor(at: HomeAccess) {
    super();
    this.#at = at;
  }

  async pressRule(press: RulePress): Promise<Pressed> {
    return await pressRule(this.#at.home, press);
  }

  async noticeLost(lost: LostNotice): Promise<void> {
    await onLost(this.#at.home, lost);
  }

  async rules(viewer: Viewer): Promise<RuleList> {
    return ruleList(this.#at.home, viewer);
  }

  async clock(): Promise<ClockView> {
    return clockOf(this.#at.home).view();
  }

  async changeClock(change: ClockBody, by: string): Promise<Parsed<ClockView>> {
    return await changeClock(this.#at.home, change, by);
  }

  async changeRule(id: string, change: RuleBody, viewer: Viewer): Promise<RuleChanged> {
    return await changeRuleBy(this.#at.home, id, change, viewer);
  }

  async removeRule(id: string, viewer: Viewer): Promise<boolean> {
    return await removeRuleBy(this.#at.home, id, viewer);
  }
}
