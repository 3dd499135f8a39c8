/** A store outside that the record is kept in as well. */
import type { AuditLine } from "@edgecall/core/protocol/audit.ts";

/** @property seq the place of its batch in Home's record */
export type AuditRecord = { id: string; home: string; seq: number; line: AuditLine };

/** Somewhere else to keep the record. Another kind than libSQL is another function that makes one of these. */
export type AuditStore = {
  /** Keeps records; those that it has it leaves as they are. @throws Error in words that hold no secret */
  keep(records: readonly AuditRecord[]): Promise<void>;
};
