/** What the rest of the Worker asks a home about calls. */

import { GATEWAY_AGENT } from "../../api/audit.ts";
import type { CallsApi } from "../../api/calls-api.ts";
import { maySee } from "../../api/may-see.ts";
import { rosterOf } from "../agents/home-roster.ts";
import { addToAudit } from "../audit/add-to-audit.ts";
import { cancelCalls, watchCalls } from "../calls/dispatch.ts";
import { JOB, ledgerOf } from "../ledger/ledger.ts";
import type { HomePart } from "../part.ts";
import { closeQuestions } from "../questions/approvals.ts";
import { sessionEnded } from "../submit/agent-tools.ts";
import { runHomeTool } from "../submit/home-tools.ts";
import { submit, submitCommand } from "../submit/submit.ts";

export const callsRpc: HomePart<CallsApi> = {
  async submit({ home }, request) {
    const reply = await submit(home, request);
    return { ...reply, rosterVersion: rosterOf(home).version(Date.now()) };
  },
  runTool: async ({ home }, request) => await runHomeTool(home, request),
  async record({ home }, callId, line) {
    addToAudit(home, GATEWAY_AGENT, callId, [line]);
  },
  command: async ({ home }, request) => await submitCommand(home, request),
  async cancel({ home }, calls, conversation) {
    const sent = await cancelCalls(home, calls, conversation);
    for (const { id } of calls) await closeQuestions(home, id);
    return sent;
  },
  async watch({ home }, ids) {
    await watchCalls(home, ids);
  },
  async outcome({ home }, agent, id, viewer) {
    const call = ledgerOf(home).get(id);
    if (!call || (call.agent !== agent && call.flags.any?.of !== agent)) return undefined;
    if (call.conversation !== null || call.asker) return undefined;
    // A question in words that became a job has its answer in the job's row.
    const asked = call.command === JOB ? ledgerOf(home).get(call.lateFor ?? "") : call;
    const kind = asked?.command === "prompt" && call.caller.channel === "mcp" ? "words" : "result";
    return maySee(viewer, { kind, by: call.caller.principal }) ? (call.outcome ?? null) : undefined;
  },
  sessionEnded: async (at, callId, outcome) => !at.isBlank && (await sessionEnded(at.home, callId, outcome)),
};
