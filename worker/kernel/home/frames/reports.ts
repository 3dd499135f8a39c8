/** Reports of agents: the outcome of a call or of a job, which is stored before it is acknowledged. */

import type { BridgeFrame } from "@edgecall/core/protocol/frames.ts";
import { type ReadReport, readReport } from "@edgecall/core/protocol/mqtt.ts";
import type { Parsed } from "@edgecall/core/protocol/parse.ts";
import type { SettledOutcome } from "../../api/calls.ts";
import { logInfo } from "../../log.ts";
import { agentAnswersOf } from "../agents/agent-answers.ts";
import { agentRowsOf } from "../agents/agent-rows.ts";
import { acknowledgeReport, dismissReport } from "../calls/acks.ts";
import { loadOf } from "../calls/agent-load.ts";
import { tryNext } from "../calls/choose-agent.ts";
import { expectJob } from "../calls/dispatch.ts";
import { lifeSignsOf } from "../calls/life-signs.ts";
import { jobsOf } from "../calls/outcome.ts";
import { deliverNow, settleFromReport, settleInFlight, settleLate } from "../calls/outcome-delivery.ts";
import type { HomeContext } from "../context.ts";
import { hasReported, JOB, JOB_MAX_MS, type LedgerCall, ledgerOf } from "../ledger/ledger.ts";
import { closeQuestions } from "../questions/approvals.ts";
import { asDelegated, reportedOutcome, unreadable, withoutJobs } from "./reported-outcome.ts";
import { countDroppedJobs, onUnknownReport, routedCall } from "./unknown-reports.ts";
import { verifyMessage } from "./verified-order.ts";

/** Settles the call that it reports. One that has to be sent again is not acknowledged. */
export async function onReport(home: HomeContext, frame: BridgeFrame & { t: "report" }): Promise<void> {
  const { id, agent, payload } = frame;
  const ledger = ledgerOf(home);
  let parsed: Parsed<ReadReport> | undefined;
  const read = () => {
    parsed ??= readReport(payload);
    return parsed;
  };
  const named = () => {
    const report = read();
    return report.ok ? report.value.requestId : undefined;
  };
  if (!(await verifyMessage(home, "reports", frame, named))) return dismissReport(home, id, agent);
  // No other part waits for it, and the agent does not keep it.
  if (lifeSignsOf(home).answered(id, agent, Date.now())) return dismissReport(home, id, agent);
  const report = read();
  if (report.ok && agentAnswersOf(home).answered(id, agent, report.value.payload))
    return await acknowledgeReport(home, id, agent, undefined);
  const routed = ledger.get(id) || !report.ok ? undefined : await routedCall(home, agent, report.value);
  // Its conversation may have submitted it again meanwhile.
  const call = ledger.get(id);
  if (!call && report.ok && (await onUnknownReport(home, id, agent, report.value, routed)) === "again")
    return;
  // The topic is the identity: a report of another agent for this call is a forgery or a mistake.
  if (call && call.agent !== agent) logInfo("report.wrong_agent", { call: id, agent });
  else if (call && !call.flags.early) await settle(home, call, report);
  // The conversation says when it has the outcome.
  if (ledger.inFlight.held(id)) return;
  // In any case: an id that is unknown now stays unknown.
  await acknowledgeReport(home, id, agent, call?.caller);
}

async function settle(home: HomeContext, reported: LedgerCall, report: Parsed<ReadReport>): Promise<void> {
  const now = Date.now();
  const elapsedMs = now - reported.createdAt;
  const answer = report.ok
    ? reportedOutcome(home, reported, report.value, elapsedMs)
    : unreadable(reported, report.error, elapsedMs);
  if (!reported.outcome) {
    lifeSignsOf(home).seen(reported.agent, now);
    loadOf(home).answered(reported, answer, now);
  }
  const call = hasNotBegun(home, reported, report, answer)
    ? await tryNext(home, reported, "not_run", "did not begin")
    : reported;
  if (!call) return;
  let outcome = asDelegated(call, answer);
  // Only the first result of a call announces jobs, and a job's result announces none.
  const announces = report.ok && call.command !== JOB && !hasReported(call);
  const jobs = announces ? jobsOf(report.value.payload) : [];
  if (announces && outcome.job !== undefined) jobs.push(outcome.job);
  const lost: string[] = [];
  if (jobs.length > 0) ledgerOf(home).store(call.id);
  for (const job of jobs) if (!(await expectJob(home, job, call, JOB_MAX_MS))) lost.push(job);
  if (lost.length > 0) outcome = withoutJobs(outcome, call.agent, lost);
  countDroppedJobs(home, call, ledgerOf(home).dropEarlyOf(call.id));
  if (call.outcome) return await settleLate(home, call, outcome);
  if (settleInFlight(home, call, outcome)) return;
  const isFirst = await settleFromReport(home, call, outcome);
  // It ran out of time in the very moment: then this is its late result.
  if (!isFirst) await settleLate(home, call, outcome);
  await closeQuestions(home, call.id);
  // Jobs that have ended could not be delivered before this.
  if (jobs.length > 0) await deliverNow(home, jobs);
}

/** The agent's own word that it will never run this call. A foreign agent has no ledger to hold it to that. */
function hasNotBegun(
  home: HomeContext,
  { agent, outcome }: LedgerCall,
  report: Parsed<ReadReport>,
  reported: SettledOutcome,
): boolean {
  if (!report.ok || outcome || report.value.payload.not_run !== true) return false;
  const isError = reported.status === "error" && reported.job === undefined;
  return isError && jobsOf(report.value.payload).length === 0 && !agentRowsOf(home).isForeign(agent);
}
