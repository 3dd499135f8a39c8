/** What pairing adds to a home. */

import type { HomeFeature } from "../../../kernel/home/feature.ts";
import { deleteExpiredCodes } from "./device-codes.ts";
import { PairingRpc } from "./rpc.ts";

export const pairing = {
  rpc: { pairing: PairingRpc },
  prune: (home, now) => deleteExpiredCodes(home.ctx.storage.sql, now),
} satisfies HomeFeature;
