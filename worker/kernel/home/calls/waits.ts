/** A call that waits for a person, or for another agent that its own one asked: its time stands still meanwhile. */
import { AFTER_EXPIRY_MS } from "../../api/questions.ts";
import type { HomeContext, HomeStores } from "../context.ts";
import { type LedgerCall, mayBeForgotten } from "./ledger.ts";

type Stores = Pick<HomeStores, "ledger" | "questions" | "agentWaits">;

export function isWaiting(home: Stores, { id, flags }: LedgerCall): boolean {
  if (home.questions.openOf(id).length > 0) return true;
  return flags.delegates !== undefined && openInCall(home, id) > 0;
}

/** Calls that the agent of this call asked for and that have not ended. */
export function openInCall(
  { ledger, agentWaits }: Pick<Stores, "ledger" | "agentWaits">,
  id: string,
): number {
  return (
    ledger.delegatedBy(id).length + [...agentWaits.values()].filter(({ parent }) => parent === id).length
  );
}

/**
 * The call waits, and so does the call of the agent that asked for it.
 * @param until epoch ms
 * @param wasWaiting whether it waited for something else already
 */
export function waitFor(home: Stores, call: LedgerCall, until: number, wasWaiting: boolean): void {
  // While it waits, the time from its deadline to its end is what it has left.
  const left = call.endsAt - (wasWaiting ? call.deadline : Date.now());
  const deadline = wasWaiting ? Math.max(call.deadline, until) : until;
  home.ledger.postpone(call.id, deadline, deadline + Math.max(0, left));
  askerWaits(home, call.id);
}

/** The end of this call may be later now, so the call of the agent that asked for it waits for longer. */
export function askerWaits(home: Stores, id: string): void {
  const call = home.ledger.get(id);
  if (call?.asker?.by !== "agent") return;
  const parent = home.ledger.get(call.asker.call);
  const until = call.endsAt + AFTER_EXPIRY_MS;
  if (parent && !parent.outcome && parent.deadline < until) waitFor(home, parent, until, true);
}

/** Its time goes on, unless it waits for something else. */
export function goOn(home: Stores, call: LedgerCall): void {
  if (isWaiting(home, call)) return;
  const now = Date.now();
  // The gateway was off for long. The alarm gives the call up, since it must not go out again.
  if (mayBeForgotten(call.sentAt ?? call.createdAt, now)) return;
  home.ledger.restart(call.id, Math.max(call.silenceMs, call.endsAt - call.deadline), now);
}

/** A call has ended that an agent asked for. */
export function askerGoesOn(home: HomeContext, { asker }: LedgerCall): void {
  const parent = asker?.by === "agent" ? home.ledger.get(asker.call) : undefined;
  if (!parent || parent.outcome) return;
  goOn(home, parent);
  home.ctx.waitUntil(home.alarm.arm());
}
