/** What a call ends with, by the report of its agent. */

import { agentSource, STRANGER } from "@edgecall/core/loop/taint.ts";
import type { ReadReport } from "@edgecall/core/protocol/mqtt.ts";
import type { SettledOutcome } from "../../api/calls.ts";
import { servedAgentsOf } from "../agents/served-agents.ts";
import { ARRIVES_LATER, outcomeOf, withoutAdvice } from "../calls/outcome.ts";
import type { HomeContext } from "../context.ts";
import { JOB, type LedgerCall, OPEN_MAX } from "../ledger/ledger.ts";

/**
 * The outcome that a report gives a call.
 * @param elapsedMs from the call to this report, by Home's clock
 */
export function reportedOutcome(
  home: HomeContext,
  call: Pick<LedgerCall, "agent" | "command" | "payload" | "conversation">,
  report: ReadReport,
  elapsedMs: number,
): SettledOutcome {
  const { agent } = call;
  // A job's result is the result of the tool that began it.
  const isTool = call.command === "tool" || call.command === JOB;
  const reporter = servedAgentsOf(home).advertOf(agent, isTool ? call.payload.tool : undefined);
  const { foreign } = reporter;
  const outcome = outcomeOf(report, elapsedMs, { agent, ...reporter });
  if (call.conversation !== null) return outcome;
  // Passed on as it came, without what is for a model alone. Media are what a page shows.
  const { media } = report.payload;
  const payload = {
    ...(foreign ? report.payload : withoutAdvice(report.payload)),
    ...(media !== undefined && { media: outcome.media ?? [] }),
  };
  return { ...outcome, report: { report_type: report.type, payload } };
}

/** An agent that called others has read their answers, whatever it says itself. */
export function asDelegated({ flags }: LedgerCall, outcome: SettledOutcome): SettledOutcome {
  const { sources = [] } = outcome;
  if (flags.delegates === undefined || sources.includes(STRANGER)) return outcome;
  return { ...outcome, sources: [...sources, STRANGER] };
}

/** The device goes on with these jobs, but their results will not arrive here. */
export function withoutJobs(outcome: SettledOutcome, agent: string, lost: readonly string[]): SettledOutcome {
  const { job, text, advice, ...rest } = outcome;
  const which = lost.length === 1 ? "the result of a job" : `the results of ${lost.length} jobs`;
  const why = `'${agent}' has ${OPEN_MAX} open calls and jobs, so ${which} of this call will not arrive here.`;
  const announced = job !== undefined && !lost.includes(job) ? { job } : {};
  // The device's advice on a lost job does not hold any more.
  const ownAdvice = job !== undefined && lost.includes(job) ? undefined : advice;
  return {
    ...rest,
    ...announced,
    text: `${announced.job === undefined ? text.replace(ARRIVES_LATER, ".") : text}\n${why}`,
    advice: `${ownAdvice ? `${ownAdvice} ` : ""}Tell the user that, and how to look for it on the device.`,
  };
}

/** What the agent did is unknown: its report is none. */
export function unreadable(call: LedgerCall, problem: string, elapsedMs: number): SettledOutcome {
  const text = `Error: Agent '${call.agent}' answered with a report that cannot be read (${problem}). Whether it did the work is unknown.`;
  const sources = [agentSource(call.agent)];
  return { status: "error", errorType: "outcome_unknown", text, elapsedMs, sources };
}
