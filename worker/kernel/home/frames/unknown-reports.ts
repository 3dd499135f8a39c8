/** Reports of calls and jobs that have no row: of one that was forgotten in a crash, or of a job that ended before its call. */

import type { ReadReport } from "@edgecall/core/protocol/mqtt.ts";
import { logInfo } from "../../log.ts";
import { expectJob } from "../calls/dispatch.ts";
import { jobsOf } from "../calls/outcome.ts";
import { deliverRouted } from "../calls/outcome-delivery.ts";
import { openReturnAddress, type RoutedCall } from "../calls/return-address.ts";
import type { HomeContext } from "../context.ts";
import { hasReported, JOB, JOB_MAX_MS, type LedgerCall, ledgerOf } from "../ledger/ledger.ts";
import { countersOf } from "../usage/usage-counters.ts";
import { asDelegated, reportedOutcome } from "./reported-outcome.ts";

/** Results of jobs that wait for the result of their call. A device has no more jobs at once. */
const EARLY_MAX = 16;
/** Within this time after its beginning, a call that was forgotten in a crash is submitted again. */
const FORGOTTEN_MS = 5 * 60_000;

/** The call that a report's route names. */
export async function routedCall(
  home: HomeContext,
  agent: string,
  { route }: ReadReport,
): Promise<RoutedCall | undefined> {
  return route === undefined ? undefined : await openReturnAddress(home, route, agent, Date.now());
}

/**
 * A report of what has no row here.
 * @param routed the call that its route names
 * @returns "again": the agent has to send it again
 */
export async function onUnknownReport(
  home: HomeContext,
  id: string,
  agent: string,
  report: ReadReport,
  routed: RoutedCall | undefined,
): Promise<"again" | "done"> {
  if (routed?.id === id) return await onRouted(home, routed, report);
  const begunBy = routed && !ledgerOf(home).get(routed.id) ? routed : undefined;
  // The call that began this job was forgotten, and is about to be submitted again.
  if (begunBy && Date.now() - begunBy.createdAt < FORGOTTEN_MS) return "again";
  return await onUnannounced(home, id, agent, report);
}

/**
 * A report of a call that has no row: it was answered before, or this object forgot it in a crash. Then its conversation, whose
 * `submit` failed, is about to submit it again.
 * @returns "again": the agent has to send it again
 */
async function onRouted(home: HomeContext, call: RoutedCall, report: ReadReport): Promise<"again" | "done"> {
  const elapsedMs = Date.now() - call.createdAt;
  const outcome = reportedOutcome(home, call, report, elapsedMs);
  // Jobs are expected with the call's own row.
  if (outcome.job !== undefined || jobsOf(report.payload).length > 0) return "again";
  return (await deliverRouted(home, call, outcome)) ? "done" : "again";
}

/**
 * A job's result that no call has announced. The job may have ended before the call that began it, whose own result
 * is still to come. Then the job's result is stored until that result names it; after that, the job counts as begun by no call.
 * @returns "again": there is no room to store it, and the agent sends it again
 */
async function onUnannounced(
  home: HomeContext,
  id: string,
  agent: string,
  report: ReadReport,
): Promise<"again" | "done"> {
  const ledger = ledgerOf(home);
  const { job_of } = report.payload;
  const call = typeof job_of === "string" ? ledger.get(job_of) : undefined;
  if (call?.agent !== agent) return "done";
  if (call.command === JOB || hasReported(call)) {
    countDroppedJobs(home, call, 1);
    return "done";
  }
  if (ledger.earlyOf(call.id).length >= EARLY_MAX) return "again";
  ledger.store(call.id);
  if (!(await expectJob(home, id, call, JOB_MAX_MS, { early: true }))) return "again";
  const job = ledger.get(id);
  const now = Date.now();
  if (job)
    ledger.settle(id, asDelegated(job, reportedOutcome(home, job, report, now - job.createdAt)), true, now);
  return "done";
}

/** Results of jobs that no call has announced, and that are lost. */
export function countDroppedJobs(home: HomeContext, call: LedgerCall, count: number): void {
  if (count === 0) return;
  countersOf(home).jobsDropped(count);
  logInfo("job.not_announced", { call: call.id, agent: call.agent, count });
}
