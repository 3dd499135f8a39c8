/** Reads the record of calls, for `logs` and `metrics`. */
import { AuditLine } from "@edgecall/core/protocol/audit.ts";
import { z } from "@edgecall/core/protocol/parse.ts";
import type { Gateway } from "./gateway.ts";

/** The gateway's bound for one request. */
export const AUDIT_LINES_MAX = 1_000;

export type AuditQuery = {
  agent?: string | undefined;
  tool?: string | undefined;
  result?: "success" | "error" | undefined;
  since?: Date | undefined;
  limit: number;
  /** Devices bring their lines within seconds from now on. */
  follow?: boolean;
};

const Entries = z.looseObject({ entries: z.array(AuditLine) });

/** @returns the lines, newest first */
export async function auditLines(gateway: Gateway, query: AuditQuery): Promise<AuditLine[]> {
  const { follow, since, ...same } = query;
  const wanted = { ...same, follow: follow ? ("yes" as const) : undefined, since: since?.toISOString() };
  return (await gateway.json(Entries, "GET /v1/audit", { query: wanted })).entries;
}
