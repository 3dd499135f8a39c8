/** What usage adds to a home. */

import type { HomeFeature } from "../../../kernel/home/feature.ts";
import { UsageRpc } from "./rpc.ts";

export const usage = { rpc: { usage: UsageRpc } } satisfies HomeFeature;
