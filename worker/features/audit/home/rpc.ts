/** What the rest of the Worker asks a home about audit. */

import { auditOf } from "../../../kernel/home/audit/audit-store.ts";
import type { HomePart } from "../../../kernel/home/part.ts";
import type { AuditApi } from "../audit-api.ts";
import { followAudit } from "./follow-audit.ts";

export const auditRpc: HomePart<AuditApi> = {
  async find({ home }, { follow, ...query }) {
    if (follow) await followAudit(home, query.agent);
    return auditOf(home).find(query);
  },
  page: async ({ home }, after, filter) => auditOf(home).page(after, filter),
};
