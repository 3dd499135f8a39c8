/** Lines get into the record by this alone. */
import type { AuditLine } from "@edgecall/core/protocol/audit.ts";
import type { HomeContext } from "../context.ts";
import { auditOf } from "./audit-store.ts";

/** Adds lines to the record, and sees that the outside store gets them. */
export function addToAudit(home: HomeContext, agent: string, id: string, lines: readonly AuditLine[]): void {
  auditOf(home).add(agent, id, lines);
  if (auditOf(home).sink()) home.ctx.waitUntil(home.alarm.arm());
}
