/** Methods of a home about rules. */

import type { Parsed } from "@edgecall/core/protocol/parse.ts";
import type { ClockBody, ClockView } from "../../kernel/api/clock.ts";
import type { Viewer } from "../../kernel/api/may-see.ts";
import { topicAt } from "../../kernel/api/stubs.ts";
import type { Env } from "../../kernel/env.ts";
import type { RuleBody, RuleChanged, RuleList } from "./contract.ts";

export interface RulesApi {
  list(viewer: Viewer): Promise<RuleList>;
  clock(): Promise<ClockView>;
  /** @param by the owner @returns the error names the field */
  changeClock(change: ClockBody, by: string): Promise<Parsed<ClockView>>;
  change(id: string, change: RuleBody, viewer: Viewer): Promise<RuleChanged>;
  /** @returns false: this person has no such rule */
  remove(id: string, viewer: Viewer): Promise<boolean>;
}

/** This home, as to rules. */
export const rulesAt = (env: Env, home: string): RulesApi => topicAt(env, home, "rules");
