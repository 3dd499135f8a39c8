/** What usage adds to a home. */

import type { HomeFeature } from "../../../kernel/home/feature.ts";
import { usageRpc } from "./rpc.ts";

export const usage = { rpc: { usage: usageRpc } } satisfies HomeFeature;
