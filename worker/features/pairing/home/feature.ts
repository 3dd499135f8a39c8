/** What pairing adds to a home. */

import type { HomeFeature } from "../../../kernel/home/feature.ts";
import { deleteExpiredCodes } from "./device-codes.ts";
import { pairingRpc } from "./rpc.ts";

export const pairing = {
  rpc: { pairing: pairingRpc },
  prune: (home, now) => deleteExpiredCodes(home.ctx.storage.sql, now),
} satisfies HomeFeature;
