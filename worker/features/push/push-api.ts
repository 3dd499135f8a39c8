/** Methods of a home about push. */

import type { Pressed } from "../../kernel/api/notices.ts";
import { topicAt } from "../../kernel/api/stubs.ts";
import type { Env } from "../../kernel/env.ts";
import type { NewSubscription, PressClaims, PushView, ShownWords, SubscriptionView } from "./contract.ts";

export interface PushApi {
  /** The link of a button, which counts once. @returns undefined: it was used, or its topic was removed */
  pressLink(claims: PressClaims): Promise<Pressed | undefined>;
  /** The key of the home for push services, and where this person is told what rules say. */
  view(principal: string): Promise<PushView>;
  /** @returns undefined: there are too many */
  add(outlet: NewSubscription): Promise<SubscriptionView | undefined>;
  /** What a lock screen shows of its messages. @returns undefined: this person has no such one */
  setWords(id: string, principal: string, words: ShownWords): Promise<SubscriptionView | undefined>;
  /** @returns false: this person has no such one */
  remove(id: string, principal: string): Promise<boolean>;
}

/** This home, as to push. */
export const pushAt = (env: Env, home: string): PushApi => topicAt(env, home, "push");
