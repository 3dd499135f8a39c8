/** What the rest of the Worker asks a home about audit. */

import type { HomePart } from "../../../kernel/home/part.ts";
import { auditOf } from "../../../kernel/home/record/audit.ts";
import type { AuditApi } from "../audit-api.ts";
import { followRecord } from "./follow-record.ts";

export const auditRpc: HomePart<AuditApi> = {
  async find({ home }, { follow, ...query }) {
    if (follow) await followRecord(home, query.agent);
    return auditOf(home).find(query);
  },
  page: async ({ home }, after, filter) => auditOf(home).page(after, filter),
};
