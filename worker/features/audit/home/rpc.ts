/** What the rest of the Worker asks a home about audit. */

import type { AuditLine } from "@edgecall/core/protocol/audit.ts";
import {
  type AuditFilter,
  type AuditPage,
  type AuditQuery,
  GATEWAY_AGENT,
} from "../../../kernel/api/audit.ts";
import { HomePart } from "../../../kernel/home/part.ts";
import { auditOf } from "../../../kernel/home/record/audit.ts";
import type { AuditApi } from "../audit-api.ts";
import { followRecord } from "./follow-record.ts";
import { addToRecord } from "./outlet.ts";

export class AuditRpc extends HomePart implements AuditApi {
  async record(callId: string, line: AuditLine): Promise<void> {
    addToRecord(this.home, GATEWAY_AGENT, callId, [line]);
  }

  async audit({ follow, ...query }: AuditQuery): Promise<AuditLine[]> {
    if (follow) await followRecord(this.home, query.agent);
    return auditOf(this.home).find(query);
  }

  async auditPage(after: number, filter: AuditFilter): Promise<AuditPage> {
    return auditOf(this.home).page(after, filter);
  }
}
