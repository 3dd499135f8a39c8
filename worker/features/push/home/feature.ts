/** What push adds to a home. */

import type { HomeFeature } from "../../../kernel/home/feature.ts";
import { deliverPush } from "./deliver.ts";
import { PushRpc } from "./rpc.ts";
import { subscriptionStoreOf } from "./subscription-store.ts";

export const push = {
  rpc: { push: PushRpc },
  subscriptions: { all: (home) => subscriptionStoreOf(home).all(), deliver: deliverPush },
} satisfies HomeFeature;
