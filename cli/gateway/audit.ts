/** Reads the record of calls, for `logs` and `metrics`. */
import { AuditLine } from "@edgecall/core/protocol/audit.ts";
import { z } from "@edgecall/core/protocol/parse.ts";
import type { Gateway } from "./gateway.ts";

/** The gateway's bound for one request. */
export const AUDIT_LINES_MAX = 1_000;

export type AuditQuery = {
  agent?: string | undefined;
  tool?: string | undefined;
  result?: string | undefined;
  since?: Date | undefined;
  limit: number;
  /** Devices bring their lines within seconds from now on. */
  follow?: boolean;
};

const Entries = z.looseObject({ entries: z.array(AuditLine) });

/** @returns the lines, newest first */
export async function auditLines(gateway: Gateway, query: AuditQuery): Promise<AuditLine[]> {
  const wanted = new URLSearchParams({ limit: String(query.limit) });
  for (const name of ["agent", "tool", "result"] as const) {
    const value = query[name];
    if (value !== undefined) wanted.set(name, value);
  }
  if (query.follow) wanted.set("follow", "yes");
  if (query.since) wanted.set("since", query.since.toISOString());
  return (await gateway.json(Entries, `/v1/audit?${wanted}`)).entries;
}
