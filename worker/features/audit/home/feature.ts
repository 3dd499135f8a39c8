/** What the record's routes and its outside store add to a home. */

import type { HomeFeature } from "../../../kernel/home/feature.ts";
import { auditRpc } from "./rpc.ts";
import { nextDue, onAlarm } from "./sink.ts";

export const audit = { rpc: { audit: auditRpc }, alarm: { nextDue, onAlarm } } satisfies HomeFeature;
