/** Requests that this home makes by itself: it brings outcomes of calls that other homes asked for, and stops its own calls. */

import type { SettledOutcome } from "../../../kernel/api/calls.ts";
import { toCalled } from "../../../kernel/home/calls/answer-agent.ts";
import { deliveryRetriesOf } from "../../../kernel/home/calls/delivery-retries.ts";
import type { HomeContext } from "../../../kernel/home/context.ts";
import { JOB, type LedgerCall, ledgerOf } from "../../../kernel/home/ledger/ledger.ts";
import { borrowingsOf } from "./borrowing-store.ts";
import { grantsOf } from "./grant-store.ts";
import { LEASE_MS, requestOfHome } from "./request.ts";

/**
 * Sends the outcome to the home that asked, without waiting for its answer: the other gateway may be slow. The row says when it
 * has the outcome.
 * @returns false: it does not have it yet
 */
export function answerBorrower(home: HomeContext, call: LedgerCall, outcome: SettledOutcome): boolean {
  const now = Date.now();
  if (!knowsOf(home, call)) {
    deliveryRetriesOf(home).failed(call.id, call.settledAt ?? now, now);
    return false;
  }
  deliveryRetriesOf(home).failed(call.id, Math.min(call.settledAt ?? now, now - LEASE_MS), now);
  home.ctx.waitUntil(bringOutcome(home, call, outcome));
  return false;
}

/** A borrower learns of a job by the outcome of the call that began it, and drops outcomes of calls that it does not know. */
function knowsOf(home: HomeContext, { command, lateFor }: LedgerCall): boolean {
  const call = command === JOB && lateFor !== null ? ledgerOf(home).get(lateFor) : undefined;
  if (!call) return true;
  return (
    call.outcome !== undefined &&
    ledgerOf(home)
      .undelivered()
      .every(({ id }) => id !== call.id)
  );
}

async function bringOutcome(home: HomeContext, call: LedgerCall, outcome: SettledOutcome): Promise<void> {
  const grant = call.asker?.by === "home" ? grantsOf(home).get(call.asker.grant) : undefined;
  // A grant that was taken back still has the outcomes of its calls delivered.
  if (call.asker?.by === "home" && grant?.borrower) {
    const other = { grant: grant.id, from: "lender", ...grant.borrower } as const;
    const body = { id: call.asker.call, outcome: toBorrower(outcome) };
    const reply = await requestOfHome(home, other, "outcome", body);
    // 401: it does not borrow any more, so nobody waits for the outcome.
    if (reply?.status !== 200 && reply?.status !== 401) return await home.alarm.arm();
  }
  ledgerOf(home).markDelivered(call.id, outcome);
  deliveryRetriesOf(home).remove(call.id);
  await notifyEndsOf(home, call);
}

/** The ends of its jobs have waited until the borrower had the call's own outcome. */
async function notifyEndsOf(home: HomeContext, { id }: LedgerCall): Promise<void> {
  const { alarm } = home;
  const waiting = ledgerOf(home)
    .undelivered()
    .filter(({ lateFor }) => lateFor === id);
  for (const job of waiting) deliveryRetriesOf(home).remove(job.id);
  if (waiting.length > 0) await alarm.arm();
}

/** Files that were uploaded stay here: their ids mean nothing at the other home. Small pictures are in the outcome itself. */
export function toBorrower({ media = [], ...outcome }: SettledOutcome): Record<string, unknown> {
  const inline = media.filter((item) => "data" in item);
  const left = media.filter((item) => !("data" in item));
  const words = left.map(({ media_type, bytes }) => `${media_type}, ${bytes} bytes`).join("; ");
  const text = left.length > 0 ? `${outcome.text}\n(Stays with the lender: ${words}.)` : outcome.text;
  return toCalled({ ...outcome, text, ...(inline.length > 0 && { media: inline }) }, undefined);
}

/** The home that lends the agent is to stop the call. It may be lost; the call ends by itself then. */
export function cancelAtLender(home: HomeContext, call: LedgerCall): void {
  const borrowing = borrowingsOf(home).ofAgent(call.agent);
  if (!borrowing) return;
  const { grant, url, home: lender } = borrowing;
  const other = { grant, from: "borrower", url, home: lender } as const;
  home.ctx.waitUntil(requestOfHome(home, other, "cancel", { id: call.id }));
}
