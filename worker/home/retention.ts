/** What Home deletes, on an alarm that runs anyway: old calls, questions and codes, and agents that are gone. */
import { settingsOrError } from "../settings/settings.ts";
import { SettingsError } from "../settings/settings-error.ts";
import type { HomeContext } from "./context.ts";
import { deleteExpiredCodes } from "./pairing/device-codes.ts";

/** Pruning reads every row of the ledger, which keeps two days of calls, and an alarm runs for nearly each of these. */
const EVERY_MS = 3_600_000;

/** Prunes, once an hour. @returns true if it was time */
export function prune(
  { ctx, env, ledger, questions, agents, audit, lent, grants, files }: HomeContext,
  now: number,
): boolean {
  const due = ctx.storage.sql
    .exec("UPDATE tidied SET at = ? WHERE at <= ? RETURNING at", now, now - EVERY_MS)
    .toArray();
  if (due.length === 0) return false;
  ledger.prune(now);
  questions.prune(now);
  audit.prune(now);
  lent.prune(now);
  grants.prune(now);
  files.prune(now);
  deleteExpiredCodes(ctx.storage.sql, now);
  const settings = settingsOrError(env);
  // With wrong settings it is not known how long agents are kept.
  if (settings instanceof SettingsError) return true;
  for (const id of agents.goneSince(now - settings.keepAgentsMs))
    if (ledger.open(id).length === 0) agents.remove(id);
  return true;
}
