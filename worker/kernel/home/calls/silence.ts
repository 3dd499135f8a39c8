/**
 * Calls that nobody answers. A device that stays silent until a call's deadline ends it, and so does a bridge whose line is
 * dead, sooner. Home then settles the call itself, with an outcome that states what is known.
 */

import type { Outcome } from "@edgecall/core/loop/history.ts";
import { errorText } from "@edgecall/core/tools/errors.ts";
import { keysOf } from "../agents/agent-keys.ts";
import { hostedDevicesOf } from "../agents/hosted-devices.ts";
import { bridgeOf } from "../bridge/bridge-socket.ts";
import type { HomeContext } from "../context.ts";
import type { LedgerCall } from "../ledger/ledger.ts";
import { ledgerOf } from "../ledger/ledger.ts";
import { tryNext } from "./choose-agent.ts";
import { sendCancel } from "./commands.ts";
import { isHeldBack } from "./dispatch.ts";
import { settleByGateway } from "./outcome-delivery.ts";
import { isWaiting } from "./waits.ts";

/** When the next call has to be taken or answered, or the line that calls wait for counts as dead. */
export function nextDue(home: HomeContext): number | undefined {
  const deadline = ledgerOf(home).nextDue();
  const lostAt = bridgeOf(home).lostAt();
  if (lostAt === undefined || (deadline !== undefined && deadline <= lostAt)) return deadline;
  return onTheLine(home).length > 0 ? lostAt : deadline;
}

export async function onAlarm(home: HomeContext, now: number): Promise<void> {
  const ledger = ledgerOf(home);
  const unaccepted = ledger.unaccepted(now);
  for (const call of unaccepted) ledger.markAccepted(call.id);
  cutDeadLine(home, unaccepted, now);
  for (const { id } of ledger.overdue(now)) {
    // Read again: while the one before was delivered, this call may have gone out or been answered.
    const call = ledger.get(id);
    if (call && call.deadline <= now) await giveUp(home, call, now);
  }
}

async function giveUp(home: HomeContext, overdue: LedgerCall, now: number): Promise<void> {
  const call = isSent(overdue) ? overdue : await tryNext(home, overdue, "unsent", "could not be reached");
  // While another agent was looked for, this one may have got it.
  if (!call || isSent(call) !== isSent(overdue)) return;
  const wasSent = isSent(call);
  const cannotAsk = !wasSent && isHeldBack(home, call, now);
  const isSettled = await settleByGateway(home, call, silenceOutcome(call, now, cannotAsk));
  // It may be that the agent does not have the session that the call was sent in.
  keysOf(home).markSessionUnconfirmed(call.agent);
  // The device may still be at it, or get the call only now. Nobody waits for what it would do.
  if (isSettled && wasSent) await sendCancel(home, call);
}

function isSent({ state }: LedgerCall): boolean {
  return state === "sent" || state === "taken";
}

/** @param cannotAsk the call stayed at Home although its agent was there */
function silenceOutcome(call: LedgerCall, now: number, cannotAsk: boolean): Outcome {
  const { agent, command, payload, state, idempotent, flags } = call;
  const what = command === "tool" ? `'${String(payload.tool)}'` : `the ${command}`;
  const elapsedMs = now - call.createdAt;
  const waited = `${Math.round(elapsedMs / 1_000)} s${flags.cut ? " (the connection to the home is down)" : ""}`;
  if (state !== "sent" && state !== "taken") {
    const why = cannotAsk ? ": it needs your approval, and the agent cannot ask you now" : "";
    const text = `Error: ${what} did not reach agent '${agent}' within ${waited}${why}. Nothing was run.`;
    return { status: "error", errorType: "offline", text, elapsedMs, sources: [] };
  }
  if (idempotent) {
    const text = `Error: Agent '${agent}' did not answer ${what} within ${waited}.`;
    const advice = "Try again or explain to the user.";
    return { status: "error", errorType: "timeout", text, advice, elapsedMs, sources: [] };
  }
  // It was sent and must not be repeated, so nobody knows what it did.
  const text = `Error: Agent '${agent}' did not answer ${what} within ${waited}. The outcome is unknown: it may or may not have run.`;
  const { advice } = errorText.outcomeUnknown(what);
  return { status: "error", errorType: "outcome_unknown", text, advice, elapsedMs, sources: [] };
}

/**
 * A bridge that takes no call, or gave no sign of life for too long, is at the end of a dead line, which TCP may report as
 * open for minutes. The calls on it are sent again when a bridge comes back. If none comes, they are given up soon.
 */
function cutDeadLine(home: HomeContext, unaccepted: readonly LedgerCall[], now: number): void {
  const bridge = bridgeOf(home);
  const lostAt = bridge.lostAt();
  if (lostAt === undefined) return;
  // Only calls that this bridge was sent tell something of its line.
  const since = bridge.connectedSince(now) ?? now;
  const isDead = lostAt <= now;
  if (!isDead && !unaccepted.some((call) => (call.sentAt ?? 0) >= since)) return;
  const unacceptedIds = new Set(unaccepted.map(({ id }) => id));
  for (const call of onTheLine(home)) {
    // A foreign agent never gets again what it may have got: for its call, a bridge that comes back changes nothing.
    const isLost =
      hostedDevicesOf(home).isForgetful(call.agent) && (call.state === "sent" || unacceptedIds.has(call.id));
    ledgerOf(home).lineLost(call.id, lostAt, !isLost);
  }
  const lastConfirmedAt = bridge.lastConfirmedAt();
  bridge.closeSilent();
  // The runtime may report the end of such a socket much later, or never.
  bridge.storeGone(lastConfirmedAt ?? now);
}

/** Calls that wait for an answer over the line. One that waits for a person, or for another call, is not: that answer goes out when the line is back. */
function onTheLine(home: HomeContext): LedgerCall[] {
  return ledgerOf(home)
    .onTheWay()
    .filter((call) => !isWaiting(home, call));
}
