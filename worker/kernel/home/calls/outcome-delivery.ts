/**
 * The end of a call: it is settled once, and its outcome is delivered to its conversation by name, again and again until
 * the conversation has it, for two days.
 */

import type { SettledOutcome } from "../../api/calls.ts";
import { conversationOf } from "../../api/stubs.ts";
import { logError, logInfo } from "../../log.ts";
import { rosterOf } from "../agents/home-roster.ts";
import { hostedDevicesOf } from "../agents/hosted-devices.ts";
import { addToAudit } from "../audit/add-to-audit.ts";
import { foreignLine, NO_AGENT } from "../audit/audit-lines.ts";
import type { HomeContext } from "../context.ts";
import { featuresOf } from "../feature.ts";
import { JOB, KEEP_SETTLED_MS, type LedgerCall, ledgerOf } from "../ledger/ledger.ts";
import { questionsOf } from "../ledger/questions.ts";
import { traceCall } from "../trace.ts";
import { countersOf } from "../usage/usage-counters.ts";
import { answerAgent } from "./answer-agent.ts";
import { keepBroughtFiles } from "./brought-files.ts";
import { notifyOutcome } from "./call-watchers.ts";
import { tellCorrection } from "./corrections.ts";
import { deliveryRetriesOf } from "./delivery-retries.ts";
import type { RoutedCall } from "./return-address.ts";
import { shownPayload } from "./shown-payload.ts";
import { endWaits, resumeParent } from "./waits.ts";

/** So many results of jobs begin a turn, per hour and device. The model learns of any other with the next question. */
const TURNS_AN_HOUR = 20;
const HOUR_MS = 3_600_000;

/**
 * Settles a flight by its report: the reply to its `submit` brings the outcome, and the conversation writes the log line.
 * @returns false: it is no flight
 */
export function settleInFlight(home: HomeContext, call: LedgerCall, outcome: SettledOutcome): boolean {
  if (!ledgerOf(home).inFlight.answer(call.id, outcome)) return false;
  traceCall(home, call, outcome, Date.now());
  record(home, call, outcome);
  return true;
}

/**
 * Settles a call by its report: first with its conversation, then in the row. A crash between the two leaves the report
 * unacknowledged. The report then comes again, and the conversation recognises it.
 * @returns false when something else settled it meanwhile
 */
export async function settleFromReport(
  home: HomeContext,
  call: LedgerCall,
  reported: SettledOutcome,
): Promise<boolean> {
  const outcome = withChoice(call, reported);
  const isDelivered = asksAgain(call) || (call.asker === null && (await deliver(home, call, outcome)));
  const now = Date.now();
  if (!ledgerOf(home).settle(call.id, outcome, isDelivered, now)) return false;
  noteSettled(home, call, outcome, now);
  // A conversation had it before the row; whoever else asked gets it after.
  if (asksAgain(call) || call.asker) await deliver(home, { ...call, settledAt: now }, outcome);
  if (!isDelivered) await home.alarm.arm();
  return true;
}

/**
 * Delivers the report of a call that this object forgot in a crash; its conversation knows the call.
 * @returns false: the conversation could not be reached, so the report has to come again
 */
export async function deliverRouted(
  home: HomeContext,
  call: RoutedCall,
  outcome: SettledOutcome,
): Promise<boolean> {
  const { env } = home;
  try {
    await conversationOf(env, call.conversation).settle(call.id, outcome, rosterOf(home).version(Date.now()));
  } catch (error) {
    logError("call.deliver_failed", error, { call: call.id });
    return false;
  }
  logInfo("call.settled", { call: call.id, agent: call.agent, status: outcome.status, by: "route" });
  // The conversation may have submitted the call again meanwhile.
  ledgerOf(home).settle(call.id, outcome, true, Date.now());
  ledgerOf(home).inFlight.confirm(call.id);
  return true;
}

/**
 * Settles a call by Home's own decision, which nothing repeats: first in the row, so that after a crash the call is not sent
 * to a device that would run what was reported as not run; then with its conversation.
 * @returns false when something else settled it before
 */
export async function settleByGateway(
  home: HomeContext,
  call: LedgerCall,
  decided: SettledOutcome,
): Promise<boolean> {
  const outcome = withChoice(call, decided);
  const now = Date.now();
  if (!ledgerOf(home).settle(call.id, outcome, asksAgain(call), now)) return false;
  noteSettled(home, call, outcome, now);
  if (asksAgain(call)) return await deliver(home, call, outcome);
  // If this object is stopped in the next lines, its alarm delivers the outcome.
  deliveryRetriesOf(home).failed(call.id, now, now);
  await home.alarm.wakeBy(deliveryRetriesOf(home).dueAt(call.id));
  await deliverStored(home, { ...call, settledAt: now }, outcome);
  return true;
}

/** A report that comes after the call was given up replaces the outcome of then, and so does one that corrects it. */
export async function settleLate(
  home: HomeContext,
  call: LedgerCall,
  reported: SettledOutcome,
): Promise<void> {
  const outcome = withChoice(call, reported);
  const replaced = ledgerOf(home).replace(call.id, outcome, Date.now());
  if (!replaced) return;
  record(home, call, outcome);
  keepBroughtFiles(home, call, outcome);
  await deliverStored(home, replaced, outcome);
  if (outcome.corrects) await tellCorrection(home, replaced);
}

/** Whoever asked named no agent, and learns which one was chosen. */
function withChoice({ agent, flags: { any } }: LedgerCall, outcome: SettledOutcome): SettledOutcome {
  return any ? { ...outcome, routed: { agent, why: any.why } } : outcome;
}

/** A call was settled, once: for the record, the log and the counters. */
export function noteSettled(home: HomeContext, call: LedgerCall, outcome: SettledOutcome, now: number): void {
  record(home, call, outcome);
  keepBroughtFiles(home, call, outcome);
  traceCall(home, call, outcome, now);
  resumeParent(home, call);
  endWaits(home, call.id);
  // delegation.ts ends what its agent asked for.
  if (call.flags.delegates !== undefined && ledgerOf(home).delegatedBy(call.id).length > 0)
    home.ctx.waitUntil(home.alarm.wakeBy(now));
  if (call.agent === NO_AGENT) return;
  // The calls of a turn are counted when it ends. What its agents asked for is not among them.
  if (call.conversation === null || call.lateFor !== null || call.asker !== null)
    countersOf(home).settled(call, outcome, now);
  const { status, errorType } = outcome;
  const ms = now - call.createdAt;
  logInfo("call.settled", { call: call.id, agent: call.agent, status, errorType, ms });
}

/** Agents of ours keep a record of what they were sent, and bring it. All other calls are recorded here; a late outcome replaces the line. */
function record(home: HomeContext, call: LedgerCall, outcome: SettledOutcome): void {
  if (call.agent === NO_AGENT) return;
  // A job is the agent's own work, which is never sent.
  const isOnDevice = call.sends > 0 || call.command === JOB;
  if (isOnDevice && !hostedDevicesOf(home).isForgetful(call.agent)) return;
  const shown = { ...call, payload: shownPayload(home, call) };
  addToAudit(home, call.agent, call.id, [foreignLine(shown, outcome, questionsOf(home).decidedOf(call.id))]);
}

/** When an outcome has to be delivered again, epoch ms. */
export function nextDue(home: HomeContext): number | undefined {
  return deliveryRetriesOf(home).nextDue(
    ledgerOf(home)
      .undelivered()
      .map(({ id }) => id),
  );
}

/** Delivers what could not be delivered before, when it is due. */
export async function onAlarm(home: HomeContext, now: number): Promise<void> {
  for (const call of ledgerOf(home).undelivered()) {
    if ((call.settledAt ?? 0) + KEEP_SETTLED_MS <= now) giveUpDelivery(home, call);
    else if (call.outcome && deliveryRetriesOf(home).dueAt(call.id) <= now)
      await deliverStored(home, call, call.outcome);
  }
}

/** The next alarm, at once, delivers what is stored of these calls, however often their delivery failed. */
export async function deliverNow(home: HomeContext, ids: readonly string[]): Promise<void> {
  const { alarm } = home;
  for (const id of ids) deliveryRetriesOf(home).remove(id);
  await alarm.arm();
}

/** The conversation asks Home for what it still waits for, so nobody is left without an answer. */
function giveUpDelivery(home: HomeContext, { id, conversation, outcome }: LedgerCall): void {
  logError("call.undeliverable", new Error("its conversation did not take it"), { call: id, conversation });
  ledgerOf(home).markDelivered(id, outcome);
  deliveryRetriesOf(home).remove(id);
}

async function deliverStored(home: HomeContext, call: LedgerCall, outcome: SettledOutcome): Promise<void> {
  if (await deliver(home, call, outcome)) {
    ledgerOf(home).markDelivered(call.id, outcome);
    deliveryRetriesOf(home).remove(call.id);
  } else await home.alarm.arm();
}

/** True if whoever asked for the call asks until it has the outcome: it is told after the row, and nothing has to be repeated. */
function asksAgain({ asker, conversation }: LedgerCall): boolean {
  return asker ? asker.by !== "home" : conversation === null;
}

/** @returns true if whoever asked has the outcome, or asks for it again */
async function deliver(home: HomeContext, call: LedgerCall, outcome: SettledOutcome): Promise<boolean> {
  switch (call.asker?.by) {
    case "agent":
      return await answerAgent(home, call, outcome);
    case "home":
      return featuresOf(home).some((feature) => feature.answerHome?.(home, call, outcome));
    case "rule":
      return featuresOf(home).some((feature) => feature.answerRule?.(home, call, outcome));
    case undefined:
      return await answerConversation(home, call, outcome);
  }
}

/** @returns true if the conversation has it. A command from the API has no conversation */
async function answerConversation(
  home: HomeContext,
  call: LedgerCall,
  outcome: SettledOutcome,
): Promise<boolean> {
  if (call.conversation === null) {
    notifyOutcome(home.ctx, call.id, outcome);
    return true;
  }
  try {
    const stub = conversationOf(home.env, call.conversation);
    if (call.lateFor === null) await stub.settle(call.id, outcome, rosterOf(home).version(Date.now()));
    else await stub.late(call.lateFor, call.id, outcome, mayBeginTurn(home, call));
    return true;
  } catch (error) {
    logError("call.deliver_failed", error, { call: call.id });
    ledgerOf(home).beganNone(call.id);
    const now = Date.now();
    deliveryRetriesOf(home).failed(call.id, call.settledAt ?? now, now);
    return false;
  }
}

function mayBeginTurn(home: HomeContext, { id, agent, command, flags }: LedgerCall): boolean {
  if (command !== JOB && flags.queued !== true) return false;
  if (ledgerOf(home).turnsBegunBy(agent, Date.now() - HOUR_MS, id) < TURNS_AN_HOUR) {
    // Many may come at once: each counts before its conversation answers.
    ledgerOf(home).beginsTurn(id, agent);
    return true;
  }
  logInfo("turn.not_begun", { agent, why: `${TURNS_AN_HOUR} an hour` });
  return false;
}
