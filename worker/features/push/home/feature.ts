/** What push adds to a home. */

import type { HomeFeature } from "../../../kernel/home/feature.ts";
import { deliverPush } from "./deliver.ts";
import { pushRpc } from "./rpc.ts";
import { subscriptionStoreOf } from "./subscription-store.ts";

export const push = {
  rpc: { push: pushRpc },
  subscriptions: { all: (home) => subscriptionStoreOf(home).all(), deliver: deliverPush },
} satisfies HomeFeature;
