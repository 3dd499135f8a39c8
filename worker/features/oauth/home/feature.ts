/** What OAuth adds to a home. */

import type { HomeFeature } from "../../../kernel/home/feature.ts";
import { grantsOf } from "./grants.ts";
import { oauthRpc } from "./rpc.ts";
import { useGrant } from "./token-grants.ts";

export const oauth = {
  rpc: { oauth: oauthRpc },
  useGrant,
  prune: (home, now) => grantsOf(home).prune(now),
} satisfies HomeFeature;
