/** What Home deletes, on an alarm that runs anyway: old calls, questions and codes, and agents that are gone. */

import { settingsOrError } from "../settings/settings.ts";
import { SettingsError } from "../settings/settings-error.ts";
import { agentRowsOf } from "./agents/agent-rows.ts";
import { auditOf } from "./audit/audit-store.ts";
import type { HomeContext } from "./context.ts";
import { featuresOf } from "./feature.ts";
import { filesOf } from "./files/file-list.ts";
import { ledgerOf } from "./ledger/ledger.ts";
import { questionsOf } from "./ledger/questions.ts";
import { endWhatIsOver } from "./permissions/ends.ts";
import { permissionsOf } from "./permissions/permission-store.ts";

/** Pruning reads every row of the ledger, which keeps two days of calls, and an alarm runs for nearly each of these. */
const EVERY_MS = 3_600_000;
/**
 * After so long the clock may be wrong, as on a machine without a clock chip: nothing is deleted yet. It is an hour later, if the
 * clock still says so.
 */
const DOUBT_AFTER_MS = 30 * 24 * EVERY_MS;

/** Prunes, once an hour. @returns true if it was time */
export function prune(home: HomeContext, now: number): boolean {
  const { ctx, env } = home;
  const { sql } = ctx.storage;
  const [last] = sql.exec<{ at: number }>("SELECT at FROM tidied").toArray();
  // A time to come is one from before the clock was set back.
  if (!last || (last.at > now - EVERY_MS && last.at <= now)) return false;
  sql.exec("UPDATE tidied SET at = ?", now);
  if (Math.abs(now - last.at) > DOUBT_AFTER_MS) return false;
  ledgerOf(home).prune(now);
  questionsOf(home).prune(now);
  auditOf(home).prune(now);
  filesOf(home).prune(now);
  endWhatIsOver(home, now);
  permissionsOf(home).prune(now);
  for (const feature of featuresOf(home)) feature.prune?.(home, now);
  const settings = settingsOrError(env);
  // With wrong settings it is not known how long agents are kept.
  if (settings instanceof SettingsError) return true;
  for (const id of agentRowsOf(home).goneSince(now - settings.keepAgentsMs))
    if (ledgerOf(home).open(id).length === 0) agentRowsOf(home).remove(id);
  return true;
}
