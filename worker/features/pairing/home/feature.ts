/** What pairing adds to a home. */

import type { HomeFeature } from "../../../kernel/home/feature.ts";
import { deviceCodesOf } from "./device-codes.ts";
import { pairingRpc } from "./rpc.ts";

export const pairing = {
  rpc: { pairing: pairingRpc },
  prune: (home, now) => deviceCodesOf(home).deleteExpired(now),
} satisfies HomeFeature;
