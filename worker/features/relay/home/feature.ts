/** What relay adds to a home. */

import type { HomeFeature } from "../../../kernel/home/feature.ts";
import { relayRpc } from "./rpc.ts";

export const relay = { rpc: { relay: relayRpc } } satisfies HomeFeature;
