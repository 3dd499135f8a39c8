/** Methods of a home about audit. */
import type { AuditLine } from "@edgecall/core/protocol/audit.ts";
import type { AuditFilter, AuditPage, AuditQuery } from "../../kernel/api/audit.ts";

export interface AuditApi {
  /** Records a call of the gateway's own tools. A line with the same id is replaced. */
  record(callId: string, line: AuditLine): Promise<void>;
  /** Lines of the record, the newest first. */
  audit(query: AuditQuery): Promise<AuditLine[]>;
  /** A page of the record, in the order in which it came. @param after that of the page before; 0: from the beginning */
  auditPage(after: number, filter: AuditFilter): Promise<AuditPage>;
}
