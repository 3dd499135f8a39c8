/** What Home forgets, by an alarm that runs anyway: calls, questions and codes that are over, agents that are gone. */

import { settingsOrError } from "../settings/settings.ts";
import { SettingsError } from "../settings/settings-error.ts";
import type { HomeContext } from "./context.ts";
import { forgetExpiredCodes } from "./pairing/device-codes.ts";

/** Each time reads every row of the ledger, which keeps two days of calls; an alarm runs for nearly each of them. */
const EVERY_MS = 3_600_000;

/** @returns whether it was time for it */
export function tidy({ ctx, env, ledger, questions, agents, audit }: HomeContext, now: number): boolean {
  const due = ctx.storage.sql
    .exec("UPDATE tidied SET at = ? WHERE at <= ? RETURNING at", now, now - EVERY_MS)
    .toArray();
  if (due.length === 0) return false;
  ledger.prune(now);
  questions.prune(now);
  audit.prune(now);
  forgetExpiredCodes(ctx.storage.sql, now);
  const settings = settingsOrError(env);
  // Who is to be forgotten is not known while the settings are wrong.
  if (settings instanceof SettingsError) return true;
  for (const id of agents.goneSince(now - settings.keepAgentsMs))
    if (ledger.open(id).length === 0) agents.remove(id);
  return true;
}
