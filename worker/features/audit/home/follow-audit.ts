/** Somebody follows the record: devices that are online bring their lines within seconds, not minutes. */

import { servedAgentsOf } from "../../../kernel/home/agents/served-agents.ts";
import { auditOf } from "../../../kernel/home/audit/audit-store.ts";
import { GATEWAY_CALLER, sendNotice } from "../../../kernel/home/calls/commands.ts";
import type { HomeContext } from "../../../kernel/home/context.ts";

/** A device goes on for so long after it was asked. It is asked again before that. */
const FOLLOWED_MS = 40_000;
const ASK_AGAIN_MS = 20_000;

/** Writes no row. @param only the one agent whose lines are wanted; undefined: all */
export async function followAudit(home: HomeContext, only: string | undefined): Promise<void> {
  const now = Date.now();
  const { followedUntil } = auditOf(home);
  for (const agent of only === undefined ? servedAgentsOf(home).ids() : [only]) {
    if (!servedAgentsOf(home).isOnline(agent, now) || (followedUntil.get(agent) ?? 0) > now + ASK_AGAIN_MS)
      continue;
    followedUntil.set(agent, now + FOLLOWED_MS);
    await sendNotice(home, { agent, caller: GATEWAY_CALLER }, "watch", { record_ms: FOLLOWED_MS });
  }
}
