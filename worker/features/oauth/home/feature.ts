/** What OAuth adds to a home. */

import type { HomeFeature } from "../../../kernel/home/feature.ts";
import { grantsOf } from "./grants.ts";
import { oauthRpc } from "./rpc.ts";
import { isGranted, useGrant } from "./token-grants.ts";

export const oauth = {
  rpc: { oauth: oauthRpc },
  useGrant,
  hasAsker: (home, who) => "program" in who && isGranted(home, who.program),
  prune: (home, now) => grantsOf(home).prune(now),
} satisfies HomeFeature;
