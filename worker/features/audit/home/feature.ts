/** What the record's routes and its outside store add to a home. */

import type { HomeFeature } from "../../../kernel/home/feature.ts";
import { nextDue, onAlarm } from "./outlet.ts";
import { AuditRpc } from "./rpc.ts";

export const audit = { rpc: { audit: AuditRpc }, alarm: { nextDue, onAlarm } } satisfies HomeFeature;
