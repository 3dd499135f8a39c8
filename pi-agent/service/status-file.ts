/** What the running agent says of itself: a file in memory, never on the card. */
import { renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type AgentStatus, STATUS_FILE } from "@edgecall/core/service/status.ts";

/** Whole or not at all for whoever reads it; nothing is synced, for it ends with this boot. */
export function writeStatus(runtimeDir: string, status: AgentStatus): void {
  const path = join(runtimeDir, STATUS_FILE);
  writeFileSync(`${path}.next`, JSON.stringify(status), { mode: 0o640 });
  renameSync(`${path}.next`, path);
}
