/**
 * Runs the calls of the gateway's own tools in the conversation itself, while its loop waits. They are reads and bounded in
 * time; after a crash the call has no outcome yet, and is run again.
 */

import type { Outcome } from "@edgecall/core/loop/history.ts";
import { MAX_ATTEMPTS } from "@edgecall/core/loop/retry.ts";
import { STRANGER } from "@edgecall/core/loop/taint.ts";
import { jsonSchema } from "@edgecall/core/protocol/parse.ts";
import { cutText } from "@edgecall/core/text/cut.ts";
import { forPerson } from "@edgecall/core/tools/advice.ts";
import { auditLine } from "@edgecall/core/tools/audit-line.ts";
import { advisedOf, faultResult, type Tool, type ToolResult } from "@edgecall/core/tools/contract.ts";
import { errorText, errorTypeOf } from "@edgecall/core/tools/errors.ts";
import type { ToolRegistry } from "@edgecall/core/tools/registry.ts";
import { type RunEvent, runTool } from "@edgecall/core/tools/runner.ts";
import { GATEWAY_AGENT } from "../../api/audit.ts";
import { logError, logInfo } from "../../log.ts";
import type { ConversationContext } from "../context.ts";
import { settleCall } from "../settle-call.ts";
import { slot } from "../slot.ts";
import type { StoredCall, StoredEntry, Turn } from "../store/rows.ts";
import { wasShown } from "./shown-address.ts";

type Batch = {
  turn: Turn;
  /** Each of a tool in `tools`. */
  calls: readonly StoredCall[];
  history: readonly StoredEntry[];
  tools: ToolRegistry;
  /** By whose texts are in the conversation. */
  tainted: boolean;
  /** Never in a result. */
  secrets: readonly string[];
};

/** Those that run now, by the call's id. */
export const runningCallsOf = slot(() => new Map<string, AbortController>());

/** Runs the calls side by side; each is answered when this resolves. */
export async function runGatewayCalls(context: ConversationContext, batch: Batch): Promise<void> {
  const { transcript } = context;
  const { calls, turn } = batch;
  if (calls.length === 0) return;
  if (transcript.countAttempt(turn.n) > MAX_ATTEMPTS)
    for (const call of calls) settleCall(context, call.id, gaveUp(call.name));
  else await Promise.all(calls.map((call) => runCall(context, call, batch)));
}

async function runCall(context: ConversationContext, call: StoredCall, batch: Batch): Promise<void> {
  const abort = new AbortController();
  // For a cancel, which also answers the call.
  runningCallsOf(context).set(call.id, abort);
  try {
    const outcome = await outcomeOf(call, batch, abort.signal);
    // Before it is answered: a crash in between runs the call again, and that has the same line.
    await auditCall(context, call, outcome, batch);
    settleCall(context, call.id, outcome);
  } finally {
    runningCallsOf(context).delete(call.id);
  }
}

/** A record that cannot be written is no reason to leave the person without an answer. */
async function auditCall(
  context: ConversationContext,
  call: StoredCall,
  outcome: Outcome,
  { turn, secrets }: Batch,
): Promise<void> {
  const { principal, role, channel } = turn.origin;
  const conversation = context.name.split("/").slice(2).join("/");
  const { status, errorType, elapsedMs } = outcome;
  const line = {
    timestamp: new Date().toISOString(),
    agent_id: GATEWAY_AGENT,
    tool: call.name.slice(0, 128),
    parameters: call.args,
    result: status,
    ...(errorType && { error_type: errorType }),
    ...(status === "error" && { error: cutText(forPerson(outcome), ERROR_CHARS) }),
    exit_code: null,
    elapsed_ms: elapsedMs,
    call_id: call.id,
    request_id: turn.id,
    caller: { principal, role, channel, conversation },
  };
  try {
    await context.home().calls.record(call.id, auditLine(line, secrets));
  } catch (error) {
    logError("audit.unrecorded", error, { call: call.id, tool: call.name });
  }
}

/** Of a failure, as the devices have it. */
const ERROR_CHARS = 500;

async function outcomeOf(call: StoredCall, batch: Batch, signal: AbortSignal): Promise<Outcome> {
  const tool = batch.tools.get(call.name);
  const refusal = tool && refused(tool, call, batch);
  if (refusal) return outcome(refusal, 0, false);
  const { principal, role, channel } = batch.turn.origin;
  const request = {
    callId: call.id,
    name: call.name,
    args: call.args,
    caller: { principal, role, channel },
    signal,
  };
  const { result, elapsedMs } = await runTool(batch.tools, request, { secrets: batch.secrets, log });
  return outcome(result, elapsedMs, tool?.taints === true);
}

function refused(tool: Tool, call: StoredCall, { history, tools, tainted }: Batch): ToolResult | undefined {
  if (call.problem !== undefined) {
    return faultResult(
      "invalid_params",
      errorText.invalidParams(tool.name, call.problem, jsonSchema(tool.input)),
    );
  }
  const { url } = call.args;
  if (!tainted || typeof url !== "string" || wasShown(url, history, tools.list())) return undefined;
  // Not quoted: what a refusal repeats would count as shown the next time.
  return faultResult("blocked", {
    text: "Error: Nothing was fetched: since words of a device, the web or a picture are in this conversation, only addresses are fetched that the user wrote or that a page or search result here shows.",
    advice: "Use one of those, or ask the user to write the address.",
  });
}

/** @param taints what it came to holds a stranger's text: a fault may quote what a server answered */
function outcome(result: ToolResult, elapsedMs: number, taints: boolean): Outcome {
  const { fault, forUser } = result;
  return {
    status: fault ? "error" : "success",
    ...advisedOf(result),
    ...(forUser !== undefined && { forUser }),
    ...(fault && { errorType: errorTypeOf(fault.code) }),
    elapsedMs,
    sources: taints ? [STRANGER] : [],
  };
}

function gaveUp(name: string): Outcome {
  const text = `Error: Tool '${name}' was broken off ${MAX_ATTEMPTS} times in the middle.`;
  const advice = "Try something else or explain to the user.";
  return { status: "error", errorType: "execution_failed", text, advice, elapsedMs: 0, sources: [] };
}

function log({ event, callId, ...rest }: RunEvent): void {
  if (event !== "tool.start") logInfo(event, { call: callId, ...rest });
}
