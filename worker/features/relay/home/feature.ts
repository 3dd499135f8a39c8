/** What relay adds to a home. */

import type { HomeFeature } from "../../../kernel/home/feature.ts";
import { RelayRpc } from "./rpc.ts";

export const relay = { rpc: { relay: RelayRpc } } satisfies HomeFeature;
