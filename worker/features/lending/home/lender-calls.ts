/**
 * Calls of agents that other homes lend to this one. Home's alarm sends each call to its lender, again under the same id until an
 * answer comes, and once more before it gives the call up: the lender says how long it may still take, since a person there
 * may have to approve it. The lender brings the outcome by itself (incoming.ts), or with one of these answers.
 */

import { agentSource, joinSources, STRANGER } from "@edgecall/core/loop/taint.ts";
import type { CalledOutcome } from "@edgecall/core/protocol/mqtt.ts";
import { check } from "@edgecall/core/protocol/parse.ts";
import type { ErrorType } from "@edgecall/core/tools/errors.ts";
import type { SettledOutcome } from "../../../kernel/api/calls.ts";
import { LENT_MARGIN_MS } from "../../../kernel/api/edge-call.ts";
import { expectJob } from "../../../kernel/home/calls/dispatch.ts";
import { isJobToken, outcomeOf } from "../../../kernel/home/calls/outcome.ts";
import {
  settleByGateway,
  settleFromReport,
  settleLate,
} from "../../../kernel/home/calls/outcome-delivery.ts";
import { pauseParent } from "../../../kernel/home/calls/waits.ts";
import type { HomeContext } from "../../../kernel/home/context.ts";
import {
  JOB,
  JOB_MAX_MS,
  type LedgerCall,
  ledgerOf,
  mayBeReplaced,
} from "../../../kernel/home/ledger/ledger.ts";
import { type LendingReply, LentAgents, LentCallReply } from "../contract.ts";
import type { Borrowing } from "./borrowing-store.ts";
import { borrowingsOf } from "./borrowing-store.ts";
import { lenderRetriesOf, lendersAskedOf } from "./in-memory.ts";
import { LEASE_MS, type OtherHome, requestOfHome } from "./request.ts";

/** The lender is asked so long before a call is given up. */
const ASK_BEFORE_MS = 10_000;
/** Longest pause between two tries. */
const LONGEST_PAUSE_MS = 30_000;
/** A lender is asked for its agents again after this, when a turn begins. */
const FRESH_MS = 60_000;

/** The time when a call has to be sent, or its lender asked, epoch ms. */
export function nextDue(home: HomeContext): number | undefined {
  const times = openCalls(home).map((call) => dueAt(home, call));
  return times.length > 0 ? Math.min(...times) : undefined;
}

/** Begins what is due. The answers come later. */
export function onAlarm(home: HomeContext, now: number): void {
  for (const call of openCalls(home)) if (dueAt(home, call) <= now) home.ctx.waitUntil(send(home, call, now));
}

function openCalls(home: HomeContext): LedgerCall[] {
  if (borrowingsOf(home).list().length === 0) return [];
  return ledgerOf(home)
    .openAtLenders()
    .filter(({ command, state }) => command !== JOB && state !== "asking");
}

function dueAt(home: HomeContext, { id, state, deadline }: LedgerCall): number {
  const retryAt = lenderRetriesOf(home).dueAt(id);
  return state === "taken" ? Math.max(retryAt, deadline - ASK_BEFORE_MS) : retryAt;
}

async function send(home: HomeContext, call: LedgerCall, now: number): Promise<void> {
  const borrowing = borrowingsOf(home).ofAgent(call.agent);
  if (!borrowing) return;
  lenderRetriesOf(home).failed(call.id, now - LEASE_MS, now);
  // Stored before the request leaves: whatever is lost, it is known that the lender may have the call.
  if (call.state !== "taken") ledgerOf(home).markSent(call.id, ledgerOf(home).nextN(now), now);
  // If this object is stopped meanwhile, its next life asks again.
  await home.alarm.wakeBy(now + LEASE_MS);
  const reply = await requestOfHome(home, lenderOf(borrowing), "call", bodyOf(call, borrowing.name));
  await applyLenderReply(home, call.id, borrowing, reply);
  await home.alarm.arm();
}

function lenderOf({ grant, url, home }: Borrowing): OtherHome {
  return { grant, from: "borrower", url, home };
}

function bodyOf({ id, agent, command, payload, caller, flags }: LedgerCall, name: string) {
  const { tool, parameters, prompt } = payload;
  // Of the agents before this one only the number is told.
  const chain = { steps: caller.chain?.via.length ?? 0 };
  const asked = command === "tool" ? { action: tool, params: parameters } : { query: prompt };
  const watched = flags.watch === true && { watched: true };
  return { id, agent: agent.slice(name.length + 1), ...asked, chain, ...watched };
}

async function applyLenderReply(
  home: HomeContext,
  id: string,
  { grant }: Borrowing,
  reply: LendingReply | undefined,
): Promise<void> {
  const ledger = ledgerOf(home);
  const lenderRetries = lenderRetriesOf(home);
  const now = Date.now();
  const call = ledger.get(id);
  if (!call || call.outcome) return lenderRetries.remove(id);
  if (reply?.status === 401) borrowingsOf(home).setProblem(grant, TAKEN_BACK);
  // Only the first try tells that nothing was run; one before it may have arrived.
  if (reply && isFinal(reply.status) && call.sends === 1 && call.state === "sent") {
    const [errorType, why] = reply.status === 401 ? NOT_LENT : REFUSED;
    return void (await settleByGateway(home, call, notRun(call, errorType, why, now)));
  }
  const taken = reply?.status === 200 ? check(LentCallReply, reply.body) : undefined;
  if (!taken?.ok) return lenderRetries.failed(id, Math.max(call.createdAt, now - LONGEST_PAUSE_MS), now);
  lenderRetries.remove(id);
  if ("outcome" in taken.value) return await settleLent(home, call, taken.value.outcome);
  ledger.markAccepted(id);
  const until = now + taken.value.left_ms + LENT_MARGIN_MS;
  ledger.postpone(id, until);
  pauseParent(home, id);
}

/** The lender takes it neither now nor later. */
function isFinal(status: number): boolean {
  return status >= 400 && status < 500 && status !== 408 && status !== 429;
}

const TAKEN_BACK = "the lender does not lend this any more, or it has expired";
const NOT_LENT: [ErrorType, string] = ["permission_denied", TAKEN_BACK];
const REFUSED: [ErrorType, string] = ["execution_failed", "the lender's gateway refused the request"];

function notRun(call: LedgerCall, errorType: ErrorType, why: string, now: number): SettledOutcome {
  const text = `Error: Agent '${call.agent}' was not called: ${why}. Nothing was run.`;
  return {
    status: "error",
    errorType,
    text,
    advice: "Explain this to the user.",
    elapsedMs: now - call.createdAt,
    sources: [],
  };
}

/** Settles a call by the outcome that its lender brings, once. */
export async function settleLent(home: HomeContext, call: LedgerCall, called: CalledOutcome): Promise<void> {
  const { job, ...read } = readLent(call, called);
  // Only the result that counts announces a job, so a call has one at most. A job's result announces none.
  const announces =
    job !== undefined && read.status === "success" && call.command !== JOB && mayBeReplaced(call.outcome);
  const outcome = announces ? { ...read, job } : read;
  if (announces) await expectJob(home, job, call, JOB_MAX_MS);
  if (call.outcome || !(await settleFromReport(home, call, outcome))) await settleLate(home, call, outcome);
  lenderRetriesOf(home).remove(call.id);
}

/** It is read like a device's report. Whose texts it holds is unknown, so it always taints. */
function readLent(
  { agent, createdAt, payload, command }: LedgerCall,
  { text, status, error_type, advice, elapsed_ms, calls, asked, media, usage, job }: CalledOutcome,
): SettledOutcome {
  const report = {
    type: "result",
    requestId: undefined,
    payload: {
      status,
      ...(status === "error" ? { error: text } : { result: text }),
      error_type,
      advice,
      elapsed_ms,
      calls,
      asked,
      // The id of a stored file would name one of this home.
      media: media?.filter((item) => "data" in item),
      metadata: usage,
      tool: command === "tool" ? payload.tool : undefined,
    },
  } as const;
  const outcome = outcomeOf(report, Date.now() - createdAt, { agent, advert: undefined });
  const sources = joinSources([agentSource(agent), STRANGER]);
  return { ...outcome, ...(isJobToken(job) && { job }), sources };
}

/** Asks the lenders of old copies for their agents, in the background: a turn begins. Nothing is asked while nobody talks. */
export function refreshBorrowed(home: HomeContext, now: number): void {
  for (const borrowing of borrowingsOf(home).list()) {
    const { name, expiresAt } = borrowing;
    if (expiresAt <= now || (lendersAskedOf(home).get(name) ?? 0) > now - FRESH_MS) continue;
    lendersAskedOf(home).set(name, now);
    home.ctx.waitUntil(refresh(home, borrowing));
  }
}

async function refresh(home: HomeContext, borrowing: Borrowing): Promise<void> {
  const reply = await requestOfHome(home, lenderOf(borrowing), "agents", {});
  const granted = reply?.status === 200 ? check(LentAgents, reply.body) : undefined;
  if (granted?.ok) borrowingsOf(home).refresh(borrowing.grant, granted.value, Date.now());
  else
    borrowingsOf(home).setProblem(
      borrowing.grant,
      reply?.status === 401 ? TAKEN_BACK : "the lender does not answer",
    );
}
