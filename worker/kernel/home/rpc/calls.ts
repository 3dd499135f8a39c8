/** What the rest of the Worker asks a home about calls. */

import type { Outcome } from "@edgecall/core/loop/history.ts";
import type { AuditLine } from "@edgecall/core/protocol/audit.ts";
import { GATEWAY_AGENT } from "../../api/audit.ts";
import type {
  CancelledCall,
  CommandRequest,
  SettledOutcome,
  SubmitReply,
  SubmitRequest,
} from "../../api/calls.ts";
import type { CallsApi } from "../../api/calls-api.ts";
import type { HomeToolReply, HomeToolRequest } from "../../api/home-tools.ts";
import { maySee, type Viewer } from "../../api/may-see.ts";
import { rosterOf } from "../agents/home-roster.ts";
import { cancelCalls, watchCalls } from "../calls/dispatch.ts";
import { JOB, ledgerOf } from "../ledger/ledger.ts";
import { HomePart } from "../part.ts";
import { closeQuestions } from "../questions/approvals.ts";
import { addToRecord } from "../record/add-to-record.ts";
import { sessionEnded } from "../submit/agent-tools.ts";
import { runHomeTool } from "../submit/home-tools.ts";
import { submit, submitCommand } from "../submit/submit.ts";

export class CallsRpc extends HomePart implements CallsApi {
  async submit(request: SubmitRequest): Promise<SubmitReply> {
    const reply = await submit(this.home, request);
    return { ...reply, rosterVersion: rosterOf(this.home).version(Date.now()) };
  }

  async runTool(request: HomeToolRequest): Promise<HomeToolReply> {
    return await runHomeTool(this.home, request);
  }

  async record(callId: string, line: AuditLine): Promise<void> {
    addToRecord(this.home, GATEWAY_AGENT, callId, [line]);
  }

  async command(request: CommandRequest): Promise<SubmitReply> {
    return await submitCommand(this.home, request);
  }

  async cancel(calls: CancelledCall[], conversation: string): Promise<string[]> {
    const sent = await cancelCalls(this.home, calls, conversation);
    for (const { id } of calls) await closeQuestions(this.home, id);
    return sent;
  }

  async watch(ids: string[]): Promise<void> {
    await watchCalls(this.home, ids);
  }

  async outcome(agent: string, id: string, viewer: Viewer): Promise<SettledOutcome | null | undefined> {
    const call = ledgerOf(this.home).get(id);
    if (!call || (call.agent !== agent && call.flags.any?.of !== agent)) return undefined;
    if (call.conversation !== null || call.asker) return undefined;
    // A question in words that became a job has its answer in the job's row.
    const asked = call.command === JOB ? ledgerOf(this.home).get(call.lateFor ?? "") : call;
    const kind = asked?.command === "prompt" && call.caller.channel === "mcp" ? "words" : "result";
    return maySee(viewer, { kind, by: call.caller.principal }) ? (call.outcome ?? null) : undefined;
  }

  async sessionEnded(callId: string, outcome: Outcome): Promise<boolean> {
    return !this.isBlank && (await sessionEnded(this.home, callId, outcome));
  }
}
