/** What push adds to a home. */

import type { HomeFeature } from "../../../kernel/home/feature.ts";
import { deliverPush } from "./deliver.ts";
import { outletsOf } from "./outlet-store.ts";
import { PushRpc } from "./rpc.ts";

export const push = {
  rpc: { push: PushRpc },
  subscriptions: { all: (home) => outletsOf(home).all(), deliver: deliverPush },
} satisfies HomeFeature;
