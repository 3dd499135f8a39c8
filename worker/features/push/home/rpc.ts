/** What the rest of the Worker asks a home about push. */

import type { Pressed } from "../../../kernel/api/notices.ts";
import { HomePart } from "../../../kernel/home/part.ts";
import type { NewSubscription, PressClaims, PushView, SubscriptionView } from "../contract.ts";
import type { PushApi } from "../push-api.ts";
import { pressLinked } from "./press-linked.ts";
import { subscriptionStoreOf } from "./subscription-store.ts";

export class PushRpc extends HomePart implements PushApi {
  async pressLink(claims: PressClaims): Promise<Pressed | undefined> {
    return this.isBlank ? undefined : await pressLinked(this.home, claims);
  }

  async view(principal: string): Promise<PushView> {
    const outlets = subscriptionStoreOf(this.home);
    return { public_key: (await outlets.vapid()).publicKey, outlets: outlets.views(principal) };
  }

  async add(outlet: NewSubscription): Promise<SubscriptionView | undefined> {
    return await subscriptionStoreOf(this.home).put(outlet, Date.now());
  }

  async remove(id: string, principal: string): Promise<boolean> {
    return subscriptionStoreOf(this.home).remove(id, principal);
  }
}
