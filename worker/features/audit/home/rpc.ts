/** What the rest of the Worker asks a home about audit. */

import type { AuditLine } from "@edgecall/core/protocol/audit.ts";
import type { AuditFilter, AuditPage, AuditQuery } from "../../../kernel/api/audit.ts";
import { HomePart } from "../../../kernel/home/part.ts";
import { auditOf } from "../../../kernel/home/record/audit.ts";
import type { AuditApi } from "../audit-api.ts";
import { followRecord } from "./follow-record.ts";

export class AuditRpc extends HomePart implements AuditApi {
  async find({ follow, ...query }: AuditQuery): Promise<AuditLine[]> {
    if (follow) await followRecord(this.home, query.agent);
    return auditOf(this.home).find(query);
  }

  async page(after: number, filter: AuditFilter): Promise<AuditPage> {
    return auditOf(this.home).page(after, filter);
  }
}
