/** Methods of a home about rules. */
import type { Parsed } from "@edgecall/core/protocol/parse.ts";
import type { Viewer } from "../../kernel/api/may-see.ts";
import type { ClockBody, ClockView } from "./clock-contract.ts";
import type { LostNotice, Pressed, RuleBody, RuleChanged, RuleList, RulePress } from "./contract.ts";

export interface RulesApi {
  /** A person pressed a button of a rule. */
  pressRule(press: RulePress): Promise<Pressed>;
  /** A conversation could not tell what a rule said. The same again changes nothing. */
  noticeLost(lost: LostNotice): Promise<void>;
  rules(viewer: Viewer): Promise<RuleList>;
  clock(): Promise<ClockView>;
  /** @param by the owner @returns the error names the field */
  changeClock(change: ClockBody, by: string): Promise<Parsed<ClockView>>;
  changeRule(id: string, change: RuleBody, viewer: Viewer): Promise<RuleChanged>;
  /** @returns false: this person has no such rule */
  removeRule(id: string, viewer: Viewer): Promise<boolean>;
}
