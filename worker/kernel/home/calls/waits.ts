/** A call that waits for a person, or for another agent that its own one asked: its time stands still meanwhile. */

import { AFTER_EXPIRY_MS } from "../../api/questions.ts";
import type { HomeContext } from "../context.ts";
import { questionsOf } from "../questions/questions.ts";
import { slot } from "../slot.ts";
import { type LedgerCall, ledgerOf, mayBeForgotten } from "./ledger.ts";

export function isWaiting(home: HomeContext, { id, flags }: LedgerCall): boolean {
  if (questionsOf(home).openOf(id).length > 0) return true;
  return flags.delegates !== undefined && openInCall(home, id) > 0;
}

/** Calls that the agent of this call asked for and that have not ended. */
export function openInCall(home: HomeContext, id: string): number {
  const ledger = ledgerOf(home);
  const agentWaits = agentWaitsOf(home);
  return (
    ledger.delegatedBy(id).length + [...agentWaits.values()].filter(({ parent }) => parent === id).length
  );
}

/**
 * The call waits, and so does the call of the agent that asked for it.
 * @param until epoch ms
 * @param wasWaiting whether it waited for something else already
 */
export function pauseDeadline(home: HomeContext, call: LedgerCall, until: number, wasWaiting: boolean): void {
  // While it waits, the time from its deadline to its end is what it has left.
  const left = call.endsAt - (wasWaiting ? call.deadline : Date.now());
  const deadline = wasWaiting ? Math.max(call.deadline, until) : until;
  ledgerOf(home).postpone(call.id, deadline, deadline + Math.max(0, left));
  pauseParent(home, call.id);
}

/** The end of this call may be later now, so the call of the agent that asked for it waits for longer. */
export function pauseParent(home: HomeContext, id: string): void {
  const call = ledgerOf(home).get(id);
  if (call?.asker?.by !== "agent") return;
  const parent = ledgerOf(home).get(call.asker.call);
  const until = call.endsAt + AFTER_EXPIRY_MS;
  if (parent && !parent.outcome && parent.deadline < until) pauseDeadline(home, parent, until, true);
}

/** Its time goes on, unless it waits for something else. */
export function resumeDeadline(home: HomeContext, call: LedgerCall): void {
  if (isWaiting(home, call)) return;
  const now = Date.now();
  // The gateway was off for long. The alarm gives the call up, since it must not go out again.
  if (mayBeForgotten(call.sentAt ?? call.createdAt, now)) return;
  ledgerOf(home).restart(call.id, Math.max(call.silenceMs, call.endsAt - call.deadline), now);
}

/** A call has ended that an agent asked for. */
export function resumeParent(home: HomeContext, { asker }: LedgerCall): void {
  const parent = asker?.by === "agent" ? ledgerOf(home).get(asker.call) : undefined;
  if (!parent || parent.outcome) return;
  resumeDeadline(home, parent);
  home.ctx.waitUntil(home.alarm.arm());
}

/** Calls of Home's own tools that an agent waits for: the call in which it does, and the session. Memory: the agent asks again. */
export const agentWaitsOf = slot(() => new Map<string, { parent: string; session: string }>());
