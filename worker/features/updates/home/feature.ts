/** What updates add to a home. */

import type { HomeFeature } from "../../../kernel/home/feature.ts";
import { UpdatesRpc } from "./rpc.ts";

export const updates = { rpc: { updates: UpdatesRpc } } satisfies HomeFeature;
