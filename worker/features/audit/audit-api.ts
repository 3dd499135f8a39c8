/** Methods of a home about audit. */

import type { AuditLine } from "@edgecall/core/protocol/audit.ts";
import type { AuditFilter, AuditPage, AuditQuery } from "../../kernel/api/audit.ts";
import { topicAt } from "../../kernel/api/stubs.ts";
import type { Env } from "../../kernel/env.ts";

export interface AuditApi {
  /** Lines of the record, the newest first. */
  find(query: AuditQuery): Promise<AuditLine[]>;
  /** A page of the record, in the order in which it came. @param after that of the page before; 0: from the beginning */
  page(after: number, filter: AuditFilter): Promise<AuditPage>;
}

/** This home, as to audit. */
export const auditAt = (env: Env, home: string): AuditApi => topicAt(env, home, "audit");
