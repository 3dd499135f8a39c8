/** What push adds to a home. */

import type { HomeFeature } from "../../../kernel/home/feature.ts";
import { AuthSettingsError } from "../../../kernel/settings/tokens.ts";
import { deliverPush } from "./deliver.ts";
import { pushRpc } from "./rpc.ts";
import { viewerOf } from "./subscription-access.ts";
import { PUSH_MIGRATIONS, subscriptionStoreOf } from "./subscription-store.ts";

export const push = {
  rpc: { push: pushRpc },
  migrations: PUSH_MIGRATIONS,
  subscriptions: {
    all: (home) => subscriptionStoreOf(home).all(),
    viewer(home, id) {
      const row = subscriptionStoreOf(home).get(id);
      try {
        return row && viewerOf(home, row, Date.now());
      } catch (error) {
        if (error instanceof AuthSettingsError) return undefined;
        throw error;
      }
    },
    deliver: deliverPush,
  },
} satisfies HomeFeature;
