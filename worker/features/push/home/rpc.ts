/** What the rest of the Worker asks a home about push. */

import type { HomePart } from "../../../kernel/home/part.ts";
import type { PushApi } from "../push-api.ts";
import { pressLinked } from "./press-linked.ts";
import { subscriptionStoreOf } from "./subscription-store.ts";

export const pushRpc: HomePart<PushApi> = {
  pressLink: async (at, claims) => (at.isBlank ? undefined : await pressLinked(at.home, claims)),
  async view({ home }, principal) {
    const outlets = subscriptionStoreOf(home);
    return { public_key: (await outlets.vapid()).publicKey, outlets: outlets.views(principal) };
  },
  add: async ({ home }, outlet) => await subscriptionStoreOf(home).put(outlet, Date.now()),
  setWords: async ({ home }, id, principal, words) =>
    subscriptionStoreOf(home).setWords(id, principal, words),
  remove: async ({ home }, id, principal) => subscriptionStoreOf(home).remove(id, principal),
};
