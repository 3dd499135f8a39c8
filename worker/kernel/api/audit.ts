/** Queries of the audit log, and their answers. */
import { canonicalHash } from "@edgecall/core/protocol/approval.ts";
import type { AuditLine } from "@edgecall/core/protocol/audit.ts";

export type AuditFilter = {
  agent?: string | undefined;
  tool?: string | undefined;
  result?: "success" | "error" | undefined;
  /** The id of a call: that call, what it was made of, and what its agents asked of others. */
  chain?: string | undefined;
  /** ISO 8601, of the device's clock: from here on, and before. */
  since?: string | undefined;
  until?: string | undefined;
};

/** @property follow somebody follows the record: devices bring their lines within seconds */
export type AuditQuery = AuditFilter & { limit: number; follow?: boolean };

/** @property at epoch ms when Home had it, made unique: its place in the record */
type AuditBatch = { at: number; lines: AuditLine[] };

/** @property after the place of the last row that was looked at. @property more whether there are rows behind it */
export type AuditPage = { batches: AuditBatch[]; after: number; more: boolean };

/** Used in place of an agent's id for calls of the gateway's own tools. No agent can have this id. */
export const GATEWAY_AGENT = "@gateway";

/** The id of a line in an export and in an outside store: the same for the same line, on every try. */
export async function recordId(home: string, line: AuditLine): Promise<string> {
  return await canonicalHash({ domain: "edgecall audit v1", home, line });
}
