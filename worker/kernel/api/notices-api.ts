/** Methods of a home about notices. */
import type { LostNotice, Pressed, RulePress } from "./notices.ts";

export interface NoticesApi {
  /** A person pressed a button of a notice. */
  pressRule(press: RulePress): Promise<Pressed>;
  /** A conversation could not tell a notice. The same again changes nothing. */
  noticeLost(lost: LostNotice): Promise<void>;
}
