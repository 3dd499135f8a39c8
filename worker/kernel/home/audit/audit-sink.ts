/** An outside store of the record. */
import type { AuditLine } from "@edgecall/core/protocol/audit.ts";

/** @property seq the place of its batch in Home's record */
export type AuditRecord = { id: string; home: string; seq: number; line: AuditLine };

/** Another kind than libSQL is another function that returns one of these. */
export type AuditSink = {
  /** Stores records; it leaves those that it has as they are. @throws Error whose message holds no secret */
  keep(records: readonly AuditRecord[]): Promise<void>;
};
