/** What updates add to a home. */

import type { HomeFeature } from "../../../kernel/home/feature.ts";
import { updatesRpc } from "./rpc.ts";

export const updates = { rpc: { updates: updatesRpc } } satisfies HomeFeature;
