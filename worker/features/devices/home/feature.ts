/** What devices add to a home. */

import type { HomeFeature } from "../../../kernel/home/feature.ts";
import { DevicesRpc } from "./rpc.ts";

export const devices = { rpc: { devices: DevicesRpc } } satisfies HomeFeature;
