/** What the running agent says of itself to `edgecall agent status` and `doctor`: a file in memory, never on the card. */
import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { checkJson, type Parsed, z } from "@edgecall/core/protocol/parse.ts";

/** Of the newest warnings and errors of its log. */
export const ERRORS_KEPT = 10;

const LoggedError = z.object({ ts: z.string(), event: z.string(), error: z.string() });

export const AgentStatus = z.object({
  agent_id: z.string(),
  version: z.string(),
  pid: z.int(),
  /** ISO 8601, as are the others. */
  started_at: z.string(),
  online: z.boolean(),
  /** Since when it is online, or is not. */
  since: z.string(),
  broker: z.string(),
  model: z.nullable(z.string()),
  tools: z.array(z.string()),
  /** Tools that this device cannot offer, and what is missing. */
  unavailable: z.array(z.object({ name: z.string(), why: z.string() })),
  /** The newest last. */
  last_errors: z.array(LoggedError),
});
export type AgentStatus = z.infer<typeof AgentStatus>;

export function statusFile(runtimeDir: string): string {
  return join(runtimeDir, "status.json");
}

/** Whole or not at all for whoever reads it; nothing is synced, for it ends with this boot. */
export function writeStatus(runtimeDir: string, status: AgentStatus): void {
  const path = statusFile(runtimeDir);
  writeFileSync(`${path}.next`, JSON.stringify(status), { mode: 0o640 });
  renameSync(`${path}.next`, path);
}

/** @throws when the file cannot be read */
export function readStatus(runtimeDir: string): Parsed<AgentStatus> {
  return checkJson(AgentStatus, readFileSync(statusFile(runtimeDir), "utf8"));
}
