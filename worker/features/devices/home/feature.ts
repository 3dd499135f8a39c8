/** What devices add to a home. */

import type { HomeFeature } from "../../../kernel/home/feature.ts";
import { devicesRpc } from "./rpc.ts";

export const devices = { rpc: { devices: devicesRpc } } satisfies HomeFeature;
